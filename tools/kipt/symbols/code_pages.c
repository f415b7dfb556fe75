// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes dumps of code pages, see code_pages.h. code_image.c reads them.
 */
#include <errno.h>

#include "../cli/messages.h"
#include "../cli/output_file.h"
#include "code_pages.h"

bool pages_open(struct pages_writer *writer, const char *name)
{
	writer->count = 0;
	writer->dump = NULL;
	writer->addr = file_make(name, ".", "addr");
	if (writer->addr)
		writer->dump = file_make(name, ".", "dump");
	if (writer->dump)
		return true;
	if (writer->addr)
		fclose(writer->addr);
	return false;
}

bool pages_write(struct pages_writer *writer, u64 address, const u8 *bytes)
{
	writer->count++;
	return fwrite(&address, sizeof(address), 1, writer->addr) == 1 &&
	       fwrite(bytes, PAGE_BYTES, 1, writer->dump) == 1;
}

bool pages_close(struct pages_writer *writer, const char *name)
{
	bool ok = !ferror(writer->addr) && !ferror(writer->dump);

	ok = !fclose(writer->addr) && ok;
	ok = !fclose(writer->dump) && ok;
	if (!ok)
		say_errno(errno, "cannot write the pages %s", name);
	return ok;
}
