import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { serveJobs } from "#server/platform/children/program.ts";
import { unlinked } from "#server/platform/mail/layout.ts";
import { visibleName } from "#server/shared/visible-text.ts";

// The program of markdown.ts. It may be killed at any moment: a few thousand characters can keep the parser for seconds.
// Nothing in its HTML is loaded by looking at it, and nothing is a link, neither in Markdown nor to a mail program.

interface HtmlNode {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: HtmlNode[];
}

const STYLES: Record<string, string> = {
  p: "margin:0 0 8px",
  pre: "margin:0 0 8px;white-space:pre-wrap;word-break:break-word;font-family:ui-monospace,monospace;font-size:13px",
  code: "font-family:ui-monospace,monospace;font-size:13px",
  blockquote: "margin:0 0 8px;padding-left:10px;border-left:3px solid #d8d3ca",
  ul: "margin:0 0 8px;padding-left:22px",
  ol: "margin:0 0 8px;padding-left:22px",
  table: "margin:0 0 8px;border-collapse:collapse",
  th: "padding:4px 8px;border:1px solid #d8d3ca;text-align:left",
  td: "padding:4px 8px;border:1px solid #d8d3ca",
};
const HEADING = "margin:0 0 8px;font-size:15px;line-height:1.4;font-weight:600";

/** A part of the text as a mail shows it. */
function tamed(node: HtmlNode, isCode = false): HtmlNode[] {
  if (node.type === "text" || node.type === "raw")
    return [{ type: "text", value: unlinked(isCode ? visibleName(node.value ?? "") : (node.value ?? "")) }];
  const { tagName = "" } = node;
  const children = (node.children ?? []).flatMap((child) => tamed(child, isCode || tagName === "code"));
  if (tagName === "img") return [{ type: "text", value: `Image: ${unlinked(String(node.properties?.alt ?? "")) || "without words"}` }];
  if (tagName === "a") return children;
  // A box of a list of things to do is a sign here: mail programs show no controls.
  if (tagName === "input") return [{ type: "text", value: node.properties?.checked ? "☑ " : "☐ " }];
  if (node.type !== "element") return node.type === "root" ? children : [];
  const style = /^h[1-6]$/.test(tagName) ? HEADING : STYLES[tagName];
  // Headings of the text are no headings of the mail.
  return [{ type: "element", tagName: /^h[1-6]$/.test(tagName) ? "p" : tagName, properties: style ? { style } : {}, children }];
}

const tame = () => (tree: HtmlNode) => ({ ...tree, children: tamed(tree) });

/** HTML of Markdown; raw HTML in it is shown as text. */
const renderMarkdown = (text: string): string =>
  renderToStaticMarkup(
    createElement(ReactMarkdown, { remarkPlugins: [[remarkGfm, { singleTilde: false }]], rehypePlugins: [tame as never] }, text),
  );

await serveJobs((texts: readonly string[]): string[] | null => {
  try {
    return texts.map(renderMarkdown);
  } catch {
    return null; // nested too deeply for the stack
  }
});
