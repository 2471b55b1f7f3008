/* Secrets in files: as ssh does with keys, those that others may read are refused. */
#include "base/secret.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

#define SECRET_FILE_MAX 4096

struct error *secret_read(const char *path, struct strbuf *line)
{
	struct file_bytes bytes;
	struct stat info;
	struct error *err;

	if (stat(path, &info) != 0)
		return error_system(errno, "%s", path);
	if (S_ISREG(info.st_mode) && info.st_mode & (S_IRGRP | S_IROTH | S_IWGRP | S_IWOTH))
		return error_new(ERROR_USAGE,
			"%s: others may read or write it; allow only its owner: chmod 600 %s", path,
			path);
	err = file_read(path, SECRET_FILE_MAX, &bytes);
	if (err)
		return err;
	struct str rest = {(const char *)bytes.data, bytes.size};
	struct str found = str_trim(str_take_line(&rest));

	if (found.size && memchr(found.data, '\0', found.size))
		err = error_new(ERROR_USAGE, "%s: its first line has a NUL byte", path);
	else
		strbuf_add(line, found);
	file_bytes_deinit(&bytes);
	return err;
}
