import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import Link from "next/link";
import { Fragment, type ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { visibleName, visibleText } from "#server/shared/visible-text.ts";

// The parser is GitHub's grammar as remark has it; what it makes is drawn here and not by way of HTML, which is half of what a
// browser would load. Whatever has no case below is not drawn.

type Part = ReturnType<typeof fromMarkdown>["children"][number];
type PartOf<Type extends Part["type"]> = Extract<Part, { type: Type }>;

/** A text that is being drawn. */
interface Drawing {
  isGuide: boolean;
  showsHidden: boolean;
  isInLink: boolean;
  /** Where references lead, and what notes say, by their names. */
  addresses: Map<string, PartOf<"definition">>;
  notes: Map<string, PartOf<"footnoteDefinition">>;
  /** Names of the notes, in the order in which they were referred to. */
  noted: string[];
}

/** The host that an address on the web names; null for one of this service, and for what is none. */
function hostOf(address: string): string | null {
  if (!URL.canParse(address, "http://here.invalid")) return null;
  const { protocol, host } = new URL(address, "http://here.invalid");
  return /^https?:$/.test(protocol) && host !== "here.invalid" ? host : null;
}

/** A page of this service, and none of its other addresses. (Browsers take more than two slashes for the beginning of a host.) */
const isPage = (href: string | undefined): href is string =>
  href !== undefined && /^\/(?!api(\/|$))[\w./?#=&-]*$/.test(href) && !/\/\/|\.\./.test(href);

/** An address that a text may lead to; empty for one that would run something. */
const harmless = (address: string): string => (/^(https?|ircs?|mailto|xmpp):/i.test(address) || !/^[^/?#]*:/.test(address) ? address : "");

function Anchor({ href, title, isGuide, children }: { href: string; title?: string | null; isGuide: boolean; children: ReactNode }) {
  if (isGuide && isPage(href))
    return (
      <Link href={href} prefetch={false}>
        {children}
      </Link>
    );
  return (
    <a href={href} title={title ?? undefined} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

/**
 * What stands in an image's place: nothing in a text may be loaded because somebody looks at it, since the address itself may
 * carry away what the text was made of, and one of this service would be asked in the reader's name.
 */
function ImagePlace({ source, alt, isInLink }: { source: string; alt: string; isInLink: boolean }) {
  const host = hostOf(source);
  const words = `${alt ? `Image: ${alt}` : "Image"}${host ? ` (${host})` : ""}`;
  if (!host || isInLink) return words;
  return (
    <Anchor href={source} isGuide={false}>
      {words}
    </Anchor>
  );
}

// Headings of the text stand under those of the page, whatever they call themselves.
const HEADINGS = {
  1: { Tag: "h3", className: "mt-8 text-18 first:mt-0" },
  2: { Tag: "h4", className: "mt-8 font-semibold text-16 first:mt-0" },
  3: { Tag: "h5", className: "mt-6 font-semibold text-14 first:mt-0" },
  4: { Tag: "h6", className: "mt-6 font-semibold text-14 first:mt-0" },
  5: { Tag: "h5", className: "" },
  6: { Tag: "h6", className: "" },
} as const;

/** One after the other. Parts have no names, and a text that grows does so at its end. */
const drawAll = (parts: readonly Part[], drawing: Drawing, between = ""): ReactNode[] =>
  parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <Fragment key={index}>
      {index > 0 && between}
      {draw(part, drawing)}
    </Fragment>
  ));

/** Blocks stand in lines of their own, raw HTML too. */
const drawBlocks = (parts: readonly Part[], drawing: Drawing) => drawAll(parts, drawing, "\n");

function drawLink(address: PartOf<"link" | "definition">, children: readonly Part[], drawing: Drawing): ReactNode {
  const [child] = children;
  const isUrl = drawing.showsHidden && children.length === 1 && child?.type === "text" && /[/.]/.test(child.value);
  return (
    <Anchor href={harmless(address.url)} title={address.title ?? null} isGuide={drawing.isGuide}>
      {isUrl ? visibleName(child.value) : drawAll(children, { ...drawing, isInLink: true })}
    </Anchor>
  );
}

function drawList({ ordered, start, spread, children }: PartOf<"list">, drawing: Drawing): ReactNode {
  // Where a blank line stands between items, each is a paragraph.
  const isLoose = spread || children.some((item) => item.spread);
  const items = children.map(({ checked, children: [first, ...rest] }, index) => {
    const box = typeof checked === "boolean" && (
      <>
        <input type="checkbox" checked={checked} disabled aria-label={checked ? "Done" : "To do"} />{" "}
      </>
    );
    const beginning = first?.type === "paragraph" ? drawAll(first.children, drawing) : null;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: as in drawAll
      <li key={index}>
        {isLoose && (box || beginning) ? (
          <p>
            {box}
            {beginning}
          </p>
        ) : (
          <>
            {box}
            {beginning}
          </>
        )}
        {drawBlocks(beginning || !first ? rest : [first, ...rest], drawing)}
      </li>
    );
  });
  return ordered ? <ol start={start === null || start === 1 ? undefined : start}>{items}</ol> : <ul>{items}</ul>;
}

function drawTable({ align, children: [head, ...body] }: PartOf<"table">, drawing: Drawing): ReactNode {
  const row = (Cell: "th" | "td", { children }: PartOf<"tableRow">, key = 0) => (
    <tr key={key}>
      {(align ?? []).map((side, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a column has no other name
        <Cell key={index} style={side ? { textAlign: side } : undefined}>
          {drawAll(children[index]?.children ?? [], drawing)}
        </Cell>
      ))}
    </tr>
  );
  return (
    // A wide one scrolls by itself, by keyboard too.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is no box for a table
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <div role="group" aria-label="Table" tabIndex={0} className="max-w-full overflow-x-auto">
      <table>
        <thead>{head && row("th", head)}</thead>
        {body.length > 0 && <tbody>{body.map((one, index) => row("td", one, index))}</tbody>}
      </table>
    </div>
  );
}

function draw(part: Part, drawing: Drawing): ReactNode {
  switch (part.type) {
    case "text":
    case "html":
      return part.value;
    case "paragraph":
      return <p>{drawAll(part.children, drawing)}</p>;
    case "heading": {
      const { Tag, className } = HEADINGS[part.depth];
      return <Tag className={className || undefined}>{drawAll(part.children, drawing)}</Tag>;
    }
    case "emphasis":
      return <em>{drawAll(part.children, drawing)}</em>;
    case "strong":
      return <strong>{drawAll(part.children, drawing)}</strong>;
    case "delete":
      return <del>{drawAll(part.children, drawing)}</del>;
    case "inlineCode":
      return <code>{drawing.showsHidden ? visibleName(part.value) : part.value}</code>;
    case "break":
      return <br />;
    case "thematicBreak":
      return <hr />;
    case "blockquote":
      return <blockquote>{drawBlocks(part.children, drawing)}</blockquote>;
    case "code":
      return (
        <pre>
          <code>{drawing.showsHidden ? visibleName(part.value) : part.value}</code>
        </pre>
      );
    case "list":
      return drawList(part, drawing);
    case "table":
      return drawTable(part, drawing);
    case "link":
      return drawLink(part, part.children, drawing);
    case "linkReference": {
      const address = drawing.addresses.get(part.identifier);
      return address ? drawLink(address, part.children, drawing) : drawAll(part.children, drawing);
    }
    case "image":
      return <ImagePlace source={part.url} alt={part.alt?.trim() ?? ""} isInLink={drawing.isInLink} />;
    case "imageReference": {
      const source = drawing.addresses.get(part.identifier)?.url ?? "";
      return <ImagePlace source={source} alt={part.alt?.trim() ?? ""} isInLink={drawing.isInLink} />;
    }
    case "footnoteReference": {
      if (!drawing.noted.includes(part.identifier)) drawing.noted.push(part.identifier);
      return <sup>{drawing.noted.indexOf(part.identifier) + 1}</sup>;
    }
    default:
      return null;
  }
}

/** The notes that a text refers to, at its end. A note may refer to another. */
function drawNotes(drawing: Drawing): ReactNode {
  const items: ReactNode[] = [];
  for (let index = 0; index < drawing.noted.length; index++)
    items.push(<li key={index}>{drawBlocks(drawing.notes.get(drawing.noted[index] ?? "")?.children ?? [], drawing)}</li>);
  return items.length > 0 && <ol aria-label="Footnotes">{items}</ol>;
}

/** Puts what is defined anywhere in a text where references find it; of two of one name the first counts. */
function collect(parts: readonly Part[], { addresses, notes }: Pick<Drawing, "addresses" | "notes">): void {
  for (const part of parts) {
    if (part.type === "definition" && !addresses.has(part.identifier)) addresses.set(part.identifier, part);
    if (part.type === "footnoteDefinition" && !notes.has(part.identifier)) notes.set(part.identifier, part);
    if ("children" in part) collect(part.children, { addresses, notes });
  }
}

export interface MarkdownProps {
  /** Links to pages of this service open in place of the page: for texts that stay beside it. */
  isGuide?: boolean;
  /** Shows hidden characters as escapes, for texts under review. */
  showsHidden?: boolean;
  className?: string;
  children: string;
}

/**
 * Parses GitHub's Markdown where it is rendered. Raw HTML in it stays text, images are links; links open beside and tell nothing.
 * Only for texts of this service: the `Markdown` of loaded-markdown.tsx serves all others.
 */
export function Markdown({ isGuide = false, showsHidden = false, className, children }: MarkdownProps) {
  const { children: parts } = fromMarkdown(showsHidden ? visibleText(children) : children, {
    // A single tilde stands for "about" more often than for the beginning of something struck out.
    extensions: [gfm({ singleTilde: false })],
    mdastExtensions: [gfmFromMarkdown()],
  });
  const drawing: Drawing = { isGuide, showsHidden, isInLink: false, addresses: new Map(), notes: new Map(), noted: [] };
  collect(parts, drawing);
  const drawn = drawBlocks(parts, drawing);
  return (
    <div className={cn("prose", className)}>
      {drawn}
      {drawNotes(drawing)}
    </div>
  );
}
