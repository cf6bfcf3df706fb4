/* SPDX-License-Identifier: MIT */
/* See page.h. */
#include "cli/draw/page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    "<style>\n"
    ":root{color-scheme:light dark;--paper:#ffffff;--card:#f4f6f9;--ink:#1b2430;--soft:#566173;--rule:#d5dbe4;"
    "--before:#8793a6;--after:#1f6fb8;--c1:#1f6fb8;--c2:#b4560f;"
    "--c3:#2b7d4f;--c4:#7a4fb0;--c5:#b8322f;--c6:#7a6a10;--c7:#0f8a96;--c8:#5b6575;--c9:#c2408a;--c10:#3a3f9e}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#12161c;--card:#1b222c;--ink:#e6ebf2;--soft:#a3afc0;"
    "--rule:#364253;--before:#76839a;--after:#5fb0f5;--c1:#5fb0f5;--c2:#f0a35e;"
    "--c3:#6ccf96;--c4:#bb9af0;--c5:#f08a86;--c6:#d9c65a;--c7:#5fd3dc;--c8:#a3afc0;--c9:#f095c9;--c10:#98a0f5}}\n"
    "body{margin:0 auto;max-width:1360px;padding:24px;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,'DejaVu Sans',Verdana,sans-serif}\n"
    "h1{font-size:1.5em;line-height:1.25;margin:0 0 .2em;overflow-wrap:anywhere}h2{font-size:1.15em;margin:2em 0 "
    ".6em}\n"
    ".soft{color:var(--soft)}code{overflow-wrap:anywhere}pre{white-space:pre-wrap;overflow-wrap:anywhere}\n"
    "dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin:1.4em 0}\n"
    "dl div{background:var(--card);border-radius:8px;padding:10px 14px}dt{color:var(--soft);font-size:.85em}\n"
    "dd{margin:0;font-size:1.15em;font-variant-numeric:tabular-nums}dd code{font-size:.68em}\n"
    "svg{display:block;width:100%;height:auto;font-family:inherit}td svg{width:120px;height:24px}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.86em;"
    "font-variant-numeric:tabular-nums}\n"
    "th,td{padding:5px 7px;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}\n"
    "th:first-child,td:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:13em}\n"
    "td.long{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:14em}\n"
    "thead th{white-space:normal;position:sticky;top:0;background:var(--paper);vertical-align:bottom}tfoot td,tfoot "
    "th{font-weight:600}\n"
    "thead button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:0;cursor:pointer;"
    "text-align:inherit}\n"
    "th[aria-sort=ascending] button::after{content:' \\2191'}th[aria-sort=descending] button::after{content:' "
    "\\2193'}\n"
    "tbody tr:hover{background:var(--card)}\n"
    /* sentences in cells: on a narrow screen a row is a card, each cell below the last behind its column's name */
    ".words th,.words td{text-align:left;white-space:normal;overflow-wrap:break-word;vertical-align:top}\n"
    "@media(max-width:700px){.words,.words tbody,.words tr,.words td{display:block}.words thead{display:none}"
    ".words tr{padding:.5em 0;border-bottom:1px solid var(--rule)}.words td{border:0;padding:1px 0;"
    "overflow-wrap:anywhere}.words td:first-child{font-weight:600}.words td:empty{display:none}"
    ".words td[data-head]::before{content:attr(data-head)': ';color:var(--soft)}}\n"
    "</style>\n";

const char page_sorting[] =
    "<script>\n"
    "document.querySelectorAll('table.sort').forEach(function(table){\n"
    "  table.querySelectorAll('thead th').forEach(function(head,column){\n"
    "    if(head.hasAttribute('data-fixed'))return;\n"
    "    var button=document.createElement('button');button.type='button';button.textContent=head.textContent;\n"
    "    head.textContent='';head.appendChild(button);\n"
    "    button.addEventListener('click',function(){\n"
    "      var up=head.getAttribute('aria-sort')==='descending',body=table.tBodies[0];\n"
    "      var key=function(row){var v=row.cells[column].getAttribute('data-v'),n=Number(v);return "
    "v===''||isNaN(n)?v:n};\n"
    "      Array.from(body.rows).sort(function(a,b){var x=key(a),y=key(b);var d=typeof x==='number'&&typeof "
    "y==='number'"
    "?x-y:String(x).localeCompare(String(y));return up?d:-d}).forEach(function(row){body.appendChild(row)});\n"
    "      table.querySelectorAll('th').forEach(function(other){other.removeAttribute('aria-sort')});\n"
    "      head.setAttribute('aria-sort',up?'ascending':'descending');\n"
    "    });\n"
    "  });\n"
    "});\n"
    "</script>\n";

void page_open(FILE *out, const char *title) {
  fputs(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
      out);
  svg_escaped(out, title);
  fprintf(out, "</title>\n%s</head>\n<body>\n<main>\n", style);
}

void page_close(FILE *out, const char *script) { fprintf(out, "</main>\n%s</body>\n</html>\n", script); }

void page_card(FILE *out, const char *what, const char *format, ...) {
  va_list args;
  fprintf(out, "<div><dt>%s</dt><dd>", what);
  va_start(args, format);
  vfprintf(out, format, args);
  va_end(args);
  fputs("</dd></div>\n", out);
}

void page_cell(FILE *out, const char *head, const char *text) {
  fprintf(out, "<td data-head=\"%s\">", head);
  svg_escaped(out, text);
  fputs("</td>", out);
}

void page_pre(FILE *out, const char *text) {
  fputs("<pre>", out);
  while (*text) { /* line ends are no text for svg_escaped */
    size_t n = strcspn(text, "\n");
    char *line = strndup(text, n);
    svg_escaped(out, line ? line : "");
    free(line);
    fputc('\n', out);
    text += n + (text[n] != 0);
  }
  fputs("</pre>", out);
}

void page_begin_drawing(svg *image, FILE *out, const char *id, int width, int height, const char *title,
                        const char *text) {
  *image = (svg){.out = out};
  fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-t %s-d\"><title id=\"%s-t\">", width,
          height, id, id, id);
  svg_escaped(out, title);
  fprintf(out, "</title><desc id=\"%s-d\">", id);
  svg_escaped(out, text);
  fputs("</desc>\n", out);
}

void page_end_drawing(svg *image) { fputs("</svg>\n", image->out); }
