// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instead of dump_library.c where there is no libkdumpfile.
 */
#include <stdio.h>
#include <string.h>

#include "dump_library.h"

void dump_library_serve(void *fd, struct helper_message *message)
{
	(void)fd;
	message->number = 0;
	snprintf((char *)message->bytes, HELPER_BYTES,
		 "it is no ELF file, and this kipt was built without libkdumpfile, which reads other formats");
	message->size = strlen((char *)message->bytes) + 1;
}
