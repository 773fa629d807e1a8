import { createElement } from "react";
import { unlinked } from "#server/platform/mail/layout.ts";

// Markdown that somebody else wrote, in our mails: it looks like what it means, and leads nowhere. Nothing in it is loaded because
// somebody looks at it, and nothing is a link: neither what is written as one nor what a mail program would make one of.

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
function tamed(node: HtmlNode): HtmlNode[] {
  if (node.type === "text" || node.type === "raw") return [{ type: "text", value: unlinked(node.value ?? "") }];
  const children = (node.children ?? []).flatMap(tamed);
  const { tagName = "" } = node;
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

/** Markdown as HTML, set apart from what is ours. @param text of any source: raw HTML in it is shown as text */
export async function quotedMarkdown(text: string): Promise<string> {
  const [{ renderToStaticMarkup }, { default: ReactMarkdown }, { default: remarkGfm }] = await Promise.all([
    import("react-dom/server"),
    import("react-markdown"),
    import("remark-gfm"),
  ]);
  const html = renderToStaticMarkup(
    createElement(ReactMarkdown, { remarkPlugins: [[remarkGfm, { singleTilde: false }]], rehypePlugins: [tame as never] }, text),
  );
  return `<div style="margin:0 0 16px;padding:12px 14px 4px;background:#f4f2ee;border-radius:6px;word-break:break-word">${html}</div>`;
}
