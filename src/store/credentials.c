/* Secrets in files: as ssh does with keys, those that others may read are refused. */
#include "store/credentials.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/file.h"

#define CREDENTIALS_MAX 4096

struct error *credentials_read(const char *path, struct strbuf *line)
{
	struct file_bytes bytes;
	struct stat info;
	struct error *err;

	if (stat(path, &info) != 0)
		return error_system(errno, "%s", path);
	if (S_ISREG(info.st_mode) && info.st_mode & (S_IRGRP | S_IROTH | S_IWGRP | S_IWOTH))
		return error_new(ERROR_USAGE,
			"%s: others may read it; allow only its owner: chmod 600 %s", path, path);
	err = file_read(path, CREDENTIALS_MAX, &bytes);
	if (err)
		return err;
	struct str rest = {(const char *)bytes.data, bytes.size};

	strbuf_add(line, str_trim(str_take_line(&rest)));
	file_bytes_deinit(&bytes);
	return NULL;
}
