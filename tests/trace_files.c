/*
 * Folders by hand.  See trace_files.h.
 */
#include "trace_files.h"

#include <stdio.h>

static void number(struct strbuf *bytes, uint64_t value, size_t size)
{
	folder_files_number(bytes, value, size);
}

/* ---- uftrace ---- */

void trace_files_record(struct strbuf *bytes, uint64_t time_ns, unsigned int kind,
	unsigned int depth, uint64_t addr, bool has_more)
{
	number(bytes, time_ns, 8);
	number(bytes, kind | (uint64_t)has_more << 2 | 5 << 3 | (depth & 1023) << 6 | addr << 16,
		8);
}

void trace_files_uftrace(struct strbuf *bytes, unsigned int max_stack)
{
	folder_files_add(bytes, "info");
	strbuf_add(bytes, (struct str){"Ftrace!", 8});
	number(bytes, 4, 4);
	number(bytes, 40, 2);
	number(bytes, 1, 1);
	number(bytes, 2, 1);
	number(bytes, max_stack ? 0x62 : 0x22, 8);
	number(bytes, 0x3bff, 8);
	number(bytes, max_stack, 8);
	strbuf_add(bytes, STR("exename:/opt/prog\ncmdline:uftrace record prog 1\n"
			      "osinfo:lines=3\nosinfo:hostname=box\n"
			      "usageinfo:systime=0.000001\nusageinfo:usrtime=0.000002\n"
			      "elapsed_time:0.000010000 sec\n"));
	folder_files_end(bytes);
	folder_files_add(bytes, "task.txt");
	strbuf_add(bytes, STR("SESS timestamp=1.000000000 pid=10 sid=00aa exename=\"/opt/prog\"\n"
			      "TASK timestamp=1.000000001 tid=10 pid=10\n"
			      "TASK timestamp=1.000000002 tid=11 pid=10\n"
			      "FORK timestamp=1.000000450 pid=12 ppid=10\n"));
	folder_files_end(bytes);
	folder_files_add(bytes, "sid-00aa.map");
	strbuf_add(
		bytes, STR("00010000-00011000 r--p 00000000 00:00 0 /opt/prog build-id:00112233\n"
			   "00011000-00012000 r-xp 00001000 00:00 0 /opt/prog build-id:00112233\n"
			   "7ffd0000-7ffe0000 rw-p 00000000 00:00 0 [stack]\n"));
	folder_files_end(bytes);
	folder_files_add(bytes, "prog.sym");
	strbuf_add(bytes, STR("# symbols: 4\n# path name: /opt/prog\n# build-id: 00112233\n"
			      "0000000000001000 T main\n0000000000001100 t a\n"
			      "0000000000001200 T _ZN1b1bEv\n0000000000001300 ? __sym_end\n"));
	folder_files_end(bytes);
}

static void add_switch(struct strbuf *bytes, uint64_t time_ns, unsigned int misc, uint32_t tid)
{
	number(bytes, 14, 4);
	number(bytes, misc, 2);
	number(bytes, 24, 2);
	number(bytes, 10, 4);
	number(bytes, tid, 4);
	number(bytes, time_ns, 8);
}

void trace_files_uftrace_whole(struct strbuf *bytes)
{
	const uint64_t t = 1000000000;

	trace_files_uftrace(bytes, 1024);
	folder_files_add(bytes, "10.dat");
	trace_files_record(bytes, t + 100, 0, 0, TRACE_MAIN, false);
	trace_files_record(bytes, t + 110, 0, 1, TRACE_A, true);
	number(bytes, 0x12345678, 8);
	number(bytes, 7, 8);
	trace_files_record(bytes, t + 150, 1, 1, TRACE_A, true);
	number(bytes, 42, 8);
	trace_files_record(bytes, t + 400, 0, 1, TRACE_B, false);
	trace_files_record(bytes, t + 500, 1, 1, TRACE_B, false);
	trace_files_record(bytes, t + 600, 1, 0, TRACE_MAIN, false);
	folder_files_end(bytes);
	folder_files_add(bytes, "11.dat");
	trace_files_record(bytes, t + 200, 0, 0, TRACE_A, false);
	trace_files_record(bytes, t + 300, 2, 0, 3, false);
	trace_files_record(bytes, t + 400, 1, 0, TRACE_A, false);
	folder_files_end(bytes);
	folder_files_add(bytes, "12.dat");
	trace_files_record(bytes, t + 460, 1, 1, TRACE_B, false);
	trace_files_record(bytes, t + 480, 0, 1, TRACE_A, false);
	folder_files_end(bytes);
	folder_files_add(bytes, "perf-cpu0.dat");
	add_switch(bytes, t + 200, 1 << 13, 10);
	add_switch(bytes, t + 230, 0, 10);
	folder_files_end(bytes);
}

static void add_comm(struct strbuf *bytes, uint64_t time_ns, uint32_t tid)
{
	number(bytes, 3, 4);
	number(bytes, 0, 2);
	number(bytes, 40, 2);
	number(bytes, 10, 4);
	number(bytes, tid, 4);
	strbuf_add(bytes, (struct str){"worker\0", 8});
	number(bytes, 10, 4);
	number(bytes, tid, 4);
	number(bytes, time_ns, 8);
}

static void add_exit(struct strbuf *bytes, uint64_t time_ns, uint32_t tid)
{
	number(bytes, 4, 4);
	number(bytes, 0, 2);
	number(bytes, 48, 2);
	number(bytes, 10, 4);
	number(bytes, 10, 4);
	number(bytes, tid, 4);
	number(bytes, 10, 4);
	number(bytes, time_ns, 8);
	number(bytes, 10, 4);
	number(bytes, tid, 4);
	number(bytes, time_ns, 8);
}

static void add_rest_of_tasks(struct strbuf *bytes)
{
	folder_files_add(bytes, "task.txt");
	strbuf_add(bytes, STR("SESS timestamp=1.000000000 pid=10 sid=00aa exename=\"/opt/prog\"\n"
			      "SESS timestamp=1.000000700 pid=10 sid=00bb exename=\"/opt/other\n"
			      "DLOP timestamp=1.000000050 tid=10 sid=00aa base=20000 "
			      "libname=\"/opt/libl.so\"\n"
			      "DLOP timestamp=1.000000050 tid=10 sid=00cc base=20000 "
			      "libname=\"/opt/libm.so\"\n"
			      "DLOP timestamp=1.0 tid=10 sid=00aa libname=\"/opt/none.so\"\n"
			      "SESS timestamp=1.0 pid=10 exename=/opt/none\n"
			      "TASK timestamp=1.000000001 tid=10 pid=10\n"
			      "TASK timestamp=1.000000001 tid=10 pid=10\n"
			      "TASK timestamp=1.000000002 tid=11 pid=10\nTASK tid=x\nFORK pid=10\n"
			      "FORK timestamp=1.000000450 pid=12 ppid=10\n"));
	folder_files_end(bytes);
	folder_files_add(bytes, "sid-00aa.map");
	strbuf_add(bytes,
		STR("00010000-00012000 r-xp 00000000 00:00 0 /opt/prog\n"
		    "00030000-00031000 r-xp 00000000 00:00 0 /opt/libn.so build-id:aabbccdd\n"
		    "00040000-00041000 r-xp 00000000 00:00 0 /opt/libo.so\nno mapping\n"));
	folder_files_end(bytes);
	folder_files_add(bytes, "sid-00bb.map");
	strbuf_add(bytes, STR("00010000-00012000 r-xp 00000000 00:00 0 /opt/other\n"));
	folder_files_end(bytes);
}

static void add_rest_of_symbols(struct strbuf *bytes)
{
	folder_files_add(bytes, "prog.sym");
	strbuf_add(bytes, STR("# path name: /opt/prog\n0000000000001000 00000080 T main\n"
			      "0000000000001100 0 t a\targuments\n0000000000001200 20 w b\n"
			      "0000000000001200 20 ?\nnone\n0000000000001300 K kernel\n"
			      "0000000000001300 P plt\n"));
	folder_files_end(bytes);
	folder_files_add(bytes, "libl.so.sym");
	strbuf_add(bytes, STR("# path name: /elsewhere/libl.so\n0000000000000100 T wrong\n"));
	folder_files_end(bytes);
	/* The sum of the path's bytes. */
	folder_files_add(bytes, "libl.so-0464.sym");
	strbuf_add(bytes, STR("# path name: /opt/libl.so\n0000000000000100 T l\n"));
	folder_files_end(bytes);
	folder_files_add(bytes, "libn.so-aabb.sym");
	strbuf_add(bytes, STR("# path name: /opt/libn.so\n# build-id: aabbccdd\n"
			      "0000000000000100 T n\n"));
	folder_files_end(bytes);
}

void trace_files_uftrace_rest(struct strbuf *bytes)
{
	const uint64_t t = 1000000000;

	folder_files_add(bytes, "info");
	strbuf_add(bytes, (struct str){"Ftrace!", 8});
	number(bytes, 4, 4);
	number(bytes, 40, 2);
	number(bytes, 1, 1);
	number(bytes, 2, 1);
	number(bytes, 0x2, 8);
	number(bytes, 0x3, 8);
	number(bytes, 0, 8);
	strbuf_add(bytes, STR("exename:/opt/prog\n"));
	folder_files_end(bytes);
	add_rest_of_tasks(bytes);
	add_rest_of_symbols(bytes);
	folder_files_add(bytes, "10.dat");
	trace_files_record(bytes, t + 100, 0, 0, TRACE_MAIN, false);
	trace_files_record(bytes, t + 105, 3, 0, 100001, true);
	number(bytes, 6, 2);
	strbuf_add(bytes, STR("events"));
	trace_files_record(bytes, t + 106, 3, 0, 100002, false);
	trace_files_record(bytes, t + 110, 0, 1, 0x20100, false);
	trace_files_record(bytes, t + 120, 0, 2, 0x30100, false);
	trace_files_record(bytes, t + 130, 0, 3, 0x40100, false);
	/* A longjmp to main. */
	trace_files_record(bytes, t + 140, 0, 1, TRACE_A, false);
	trace_files_record(bytes, t + 150, 1, 1, TRACE_A, false);
	/* An exec: the frames of the other program are left. */
	trace_files_record(bytes, t + 750, 0, 0, TRACE_A, false);
	trace_files_record(bytes, t + 760, 0, 1, TRACE_B, false);
	trace_files_record(bytes, t + 770, 2, 0, 7, false);
	trace_files_record(bytes, t + 780, 0, 5, TRACE_A, true);
	number(bytes, 0x12345678, 8);
	number(bytes, 1, 4);
	folder_files_end(bytes);
	folder_files_add(bytes, "11.dat");
	trace_files_record(bytes, t + 100, 1, 3, TRACE_B, false);
	trace_files_record(bytes, t + 105, 3, 0, 100001, true);
	number(bytes, 600, 2);
	folder_files_end(bytes);
	folder_files_add(bytes, "12.dat");
	trace_files_record(bytes, t + 460, 1, 1, TRACE_B, false);
	trace_files_record(bytes, t + 480, 0, 1023, TRACE_A, false);
	trace_files_record(bytes, t + 490, 0, 0, TRACE_A, false);
	trace_files_record(bytes, t + 495, 1, 0, TRACE_A, false);
	number(bytes, t + 500, 8);
	folder_files_end(bytes);
	folder_files_add(bytes, "13.dat");
	trace_files_record(bytes, t + 460, 0, 0, TRACE_B, false);
	number(bytes, t + 470, 8);
	number(bytes, 0, 8);
	folder_files_end(bytes);
	folder_files_add(bytes, "perf-cpu0.dat");
	add_comm(bytes, t + 100, 11);
	add_comm(bytes, t + 101, 99);
	add_switch(bytes, t + 200, 3 << 13, 10);
	add_switch(bytes, t + 230, 0, 10);
	add_switch(bytes, t + 400, 1 << 13, 11);
	add_switch(bytes, t + 420, 0, 12);
	add_exit(bytes, t + 500, 12);
	add_exit(bytes, t + 900, 10);
	number(bytes, 1, 4);
	number(bytes, 0, 2);
	number(bytes, 4, 2);
	folder_files_end(bytes);
}

/* ---- gprofng ---- */

static void add_log(struct strbuf *bytes, const char *name, int pid, const char *command)
{
	folder_files_add(bytes, name);
	strbuf_printf(bytes,
		"<experiment version=\"12.4\">\n</experiment>\n"
		"<system hostname=\"box\" arch=\"x86_64\">\n</system>\n"
		"<process pid=\"%d\"></process>\n<process wsize=\"64\"></process>\n"
		"<process>%s</process>\n<profile name=\"heaptrace\">\n"
		"  <profdata fname=\"heaptrace\"/>\n"
		"  <profpckt kind=\"5\" uname=\"Heap tracing data\">\n"
		"    <field name=\"LWPID\" offset=\"8\" type=\"INT64\"/>\n"
		"    <field name=\"TSTAMP\" offset=\"16\" type=\"INT64\"/>\n"
		"    <field name=\"FRINFO\" offset=\"24\" type=\"INT64\"/>\n"
		"    <field name=\"HTYPE\" offset=\"32\" type=\"INT32\"/>\n"
		"    <field name=\"HSIZE\" offset=\"40\" type=\"UINT64\"/>\n"
		"    <field name=\"HVADDR\" offset=\"48\" type=\"UINT64\"/>\n"
		"    <field name=\"HOVADDR\" offset=\"56\" type=\"UINT64\"/>\n"
		"  </profpckt>\n</profile>\n<profile name=\"profile\" ptimer=\"1000\">\n"
		"  <profdata fname=\"profile\"/>\n  <profpckt kind=\"8\" uname=\"Clock\">\n"
		"    <field name=\"LWPID\" offset=\"8\" type=\"INT64\"/>\n"
		"    <field name=\"TSTAMP\" offset=\"16\" type=\"INT64\"/>\n"
		"    <field name=\"FRINFO\" offset=\"24\" type=\"INT64\"/>\n"
		"    <field name=\"MSTATE\" offset=\"32\" type=\"INT32\"/>\n"
		"    <field name=\"NTICK\" offset=\"36\" type=\"INT32\"/>\n"
		"  </profpckt>\n</profile>\n"
		"<event kind=\"run\" tstamp=\"2.000000000\" time=\"100\" tm_zone=\"0\"/>\n"
		"<event kind=\"exit\" tstamp=\"0.5\"/>\n",
		pid, command);
	folder_files_end(bytes);
}

static void add_map(struct strbuf *bytes, const char *name)
{
	folder_files_add(bytes, name);
	strbuf_add(bytes,
		STR("<event kind=\"map\" object=\"segment\" tstamp=\"0.1\" vaddr=\"0x1000\" "
		    "size=\"4096\" foffset=\"+0x1000\" modes=\"0x005\" name=\"/opt/a&amp;b\"/>\n"
		    "<event kind=\"map\" object=\"function\" tstamp=\"0.1\" vaddr=\"0x8000\" "
		    "size=\"4096\" name=\"[vdso]\" />\n"
		    "<event kind=\"map\" object=\"dynfunc\" name=\"[vdso]\" vaddr=\"0x8100\" "
		    "size=\"16\" funcname=\"ticks\" />\n"));
	folder_files_end(bytes);
}

/* A frame packet of number frinfo, with a run of that number; link 0: it is not compressed. */
static void add_frame(struct strbuf *bytes, uint64_t frinfo, uint64_t run, const uint64_t *addrs,
	size_t count, uint64_t link)
{
	size_t size = 16 + count * 8 + (link ? 8 : 0);

	number(bytes, 16 + size, 2);
	number(bytes, 11, 2);
	number(bytes, 16, 4);
	number(bytes, frinfo, 8);
	number(bytes, size, 4);
	number(bytes, link ? 0x80000001 : 1, 4);
	number(bytes, run, 8);
	for (size_t i = 0; i < count; i++)
		number(bytes, addrs[i], 8);
	if (link)
		number(bytes, link, 8);
}

static void add_frames(struct strbuf *bytes, const char *name)
{
	const uint64_t whole[] = {0x1300, 0x1200, 0x1100}, inner[] = {0x8104},
		       cut[] = {0x1300, -2ul};

	folder_files_add(bytes, name);
	add_frame(bytes, 101, 201, whole, 3, 0);
	add_frame(bytes, 102, 202, inner, 1, 201);
	add_frame(bytes, 103, 203, cut, 2, 0);
	number(bytes, 64, 2); /* fills up */
	number(bytes, 0, 62);
	folder_files_end(bytes);
}

static void add_clock(struct strbuf *bytes, uint64_t time_ns, uint64_t frinfo, unsigned int ticks)
{
	number(bytes, 40, 2);
	number(bytes, 8, 6);
	number(bytes, 77, 8);
	number(bytes, time_ns, 8);
	number(bytes, frinfo, 8);
	number(bytes, 10, 4);
	number(bytes, ticks, 4);
}

static void add_heap(struct strbuf *bytes, uint64_t time_ns, unsigned int type, uint64_t size,
	uint64_t addr, uint64_t old)
{
	number(bytes, 64, 2);
	number(bytes, 5, 6);
	number(bytes, 77, 8);
	number(bytes, time_ns, 8);
	number(bytes, 101, 8);
	number(bytes, type, 8);
	number(bytes, size, 8);
	number(bytes, addr, 8);
	number(bytes, old, 8);
}

void trace_files_gprofng(struct strbuf *bytes)
{
	const uint64_t t = 2000000000;

	add_log(bytes, "log.xml", 77, "./a b");
	add_map(bytes, "map.xml");
	add_frames(bytes, "data.frameinfo");
	folder_files_add(bytes, "profile");
	add_clock(bytes, t + 1000, 101, 1);
	add_clock(bytes, t + 2000, 102, 3);
	add_clock(bytes, t + 3000, 103, 1);
	add_clock(bytes, t + 4000, 999, 1);
	folder_files_end(bytes);
	folder_files_add(bytes, "heaptrace");
	/* The later one first: threads write blocks of their own. */
	add_heap(bytes, t + 300, 1, 0, 0x9000, 0);
	add_heap(bytes, t + 100, 0, 50, 0x9000, 0);
	add_heap(bytes, t + 200, 0, 60, 0x9100, 0);
	add_heap(bytes, t + 400, 2, 70, 0x9200, 0x9100);
	folder_files_end(bytes);
	add_log(bytes, "_f1.er/log.xml", 78, "(fork)");
	add_map(bytes, "_f1.er/map.xml");
	add_frames(bytes, "_f1.er/data.frameinfo");
	folder_files_add(bytes, "_f1.er/profile");
	add_clock(bytes, t + 5000, 101, 2);
	folder_files_end(bytes);
}
