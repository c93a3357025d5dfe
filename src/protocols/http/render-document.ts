/** The document around every page: head, icons, header. */
import { html, icon, type Markup } from './html.ts';
import type { Problem } from './problem.ts';

export interface DocumentParts {
  readonly title: string;
  readonly body: Markup;
  /** The icon sheet, verbatim. */
  readonly icons: string;
  readonly who: string;
  /** The run is still moving: the page asks again every second. */
  readonly live?: boolean;
}

export function renderDocument({ title, body, icons, who, live }: DocumentParts): Markup {
  const sheet: Markup = { markup: icons.replace('<svg ', '<svg class="vh" aria-hidden="true" ') };
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${live === true ? html`<meta http-equiv="refresh" content="1" />` : undefined}
        <title>${title.slice(0, 120)} · CaseOps</title>
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/assets/tokens.css" />
        <link rel="stylesheet" href="/assets/console.css" />
        <link rel="stylesheet" href="/assets/page.css" />
        <script src="/assets/page.js" defer></script>
      </head>
      <body>
        ${sheet}
        <a class="skip" href="#main">Skip to content</a>
        <header class="top">
          <a class="brand" href="/">${icon('mark')} CaseOps</a>
          <nav class="nav" aria-label="Main"><a href="/" aria-current="page">Runs</a></nav>
          <div class="me"><span class="who">${who}</span></div>
        </header>
        <main class="page" id="main">${body}</main>
      </body>
    </html> `;
}

export function renderProblem(problem: Problem): Markup {
  return html`<section class="why problem">
    <header>
      <h1 class="small">${problem.detail}</h1>
      <p class="quiet rec">${problem.code}</p>
    </header>
  </section>`;
}
