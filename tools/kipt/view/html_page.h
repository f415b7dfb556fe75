/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the pages that are the same of all traces: the files of the folder page, as the
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

/**
 * html_table_begin() - write what comes before the header of a page that is one table
 * @out: where to
 * @title: of the page; has no characters that HTML gives a meaning
 */
void html_table_begin(FILE *out, const char *title);

/**
 * html_table_end() - write what comes after the end of its main element
 * @out: where to
 */
void html_table_end(FILE *out);

#endif /* KIPT_HTML_PAGE_H */
