/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the page that are the same of all traces: the files of the folder page, as the
 * build found them.
 */
#ifndef KIPT_HTML_PAGE_H
#define KIPT_HTML_PAGE_H

#include <stdio.h>

/**
 * html_page_begin() - write what comes before the data
 * @out: where to
 */
void html_page_begin(FILE *out);

/**
 * html_page_end() - write what comes after them
 * @out: where to
 */
void html_page_end(FILE *out);

#endif /* KIPT_HTML_PAGE_H */
