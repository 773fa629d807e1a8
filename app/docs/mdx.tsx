/// <reference types="next/image-types/global" />
import { Fragment, isValidElement, type ReactNode } from "react";
import { Contents } from "#app/docs/contents.tsx";
import expressions from "#app/docs/examples/expressions.json";
import filterExamples from "#app/docs/filters/examples.json";
import { baseUrl, guideText } from "#app/docs/guide-text.ts";
import agent from "#app/docs/images/agent.png";
import approvals from "#app/docs/images/approvals.png";
import canvas from "#app/docs/images/canvas.png";
import editor from "#app/docs/images/editor.png";
import run from "#app/docs/images/run.png";
import { NodeErrors, NodeExample, NodeFields, NodeTable } from "#app/docs/node-parts.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { Kbd } from "#components/ui/kbd.tsx";
import { Link } from "#components/ui/link.tsx";
import { keysOf, SHORTCUT_GROUPS, type ShortcutId } from "#components/workflow-editor/canvas/shortcuts.ts";
import { priceList } from "#server/llm/prices.ts";
import { settingGroups } from "#server/platform/settings-schema.ts";
import { anchorOf } from "#server/shared/anchor.ts";
import { filters } from "#server/workflow/filters.ts";

// What the chapters of the guide, which are MDX, may use beside Markdown.

const KINDS: Record<string, string> = {
  sh: "command",
  ts: "TypeScript",
  py: "Python",
  json: "JSON",
  env: "settings",
  md: "file",
  txt: "stream",
};

interface ExampleProps {
  /** Name in app/docs/examples. */
  file: string;
  /** What it is, for the copy button; by the file's ending unless given. */
  label?: string;
  /** Shows the file's name above it, where others refer to it. */
  isNamed?: boolean;
}

/** An example of the guide is a file, shown by a chapter and executed by e2e/api/docs.spec.ts. */
async function Example({ file, label = KINDS[file.split(".").at(-1) ?? ""] ?? "example", isNamed = false }: ExampleProps) {
  return <CodeBlock label={label} code={await guideText(`examples/${file}`)} {...(isNamed && { title: file })} />;
}

const pictures = { agent, approvals, canvas, editor, run };

/** A picture that e2e/ui/pictures.spec.ts has made; a click shows it as large as it is. */
function Picture({ name, alt }: { name: keyof typeof pictures; alt: string }) {
  const { src, width, height } = pictures[name];
  return (
    <a href={src} className="block">
      {/* biome-ignore lint/performance/noImgElement: it is shown as it is, and needs no script */}
      <img src={src} width={width} height={height} alt={alt} loading="lazy" className="h-auto w-full rounded-lg border" />
    </a>
  );
}

/** The address of the REST API as the reader reaches it. */
async function ApiAddress() {
  return <code>{await baseUrl()}/api/v1</code>;
}

function ExpressionTable() {
  return (
    <table>
      <thead>
        <tr>
          <th>Write</th>
          <th>Get</th>
        </tr>
      </thead>
      <tbody>
        {expressions.map(([expression, meaning]) => (
          <tr key={expression}>
            <td className="whitespace-nowrap">
              <code>{expression}</code>
            </td>
            <td>{meaning}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Every filter of expressions: how it is called, what it makes, and examples. */
function FilterTable() {
  const examples: Record<string, string[][]> = filterExamples.examples;
  return filters.map(({ name, parameters, summary }) => (
    <Fragment key={name}>
      <h3 id={name} className="scroll-mt-20">
        <code>
          {name}
          {parameters.length > 0 && `(${parameters.map((parameter) => parameter.replace("? =", " =")).join(", ")})`}
        </code>
      </h3>
      <p>{summary}.</p>
      <table>
        <tbody>
          {examples[name]?.map(([expression = "", gives = ""]) => (
            <tr key={expression}>
              <td className="w-2/3">
                <code>{expression}</code>
              </td>
              <td>
                <code className="whitespace-pre-wrap">{gives}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Fragment>
  ));
}

/** What the examples of filters read. */
const FilterGiven = () => <CodeBlock label="output" code={JSON.stringify(filterExamples.given.Order, null, 2)} />;

/** What filters refuse, and the sentence with which they do. */
function FilterErrors() {
  return (
    <table>
      <thead>
        <tr>
          <th>Written</th>
          <th>It says</th>
        </tr>
      </thead>
      <tbody>
        {filterExamples.errors.map(([expression, sentence]) => (
          <tr key={expression}>
            <td>
              <code>{expression}</code>
            </td>
            <td>{sentence}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const Keys = ({ id }: { id: ShortcutId }) =>
  keysOf(id, "Ctrl").map((keys, index) => (
    <Fragment key={keys.join(" ")}>
      {index > 0 && " or "}
      {keys.map((key, place) => (
        <Fragment key={key}>
          {place > 0 && " "}
          <Kbd>{key}</Kbd>
        </Fragment>
      ))}
    </Fragment>
  ));

/** Every shortcut of the editor, by what it is about. */
function ShortcutTables() {
  return Object.entries(SHORTCUT_GROUPS).map(([group, shortcuts]) => (
    <Fragment key={group}>
      <h3>{group}</h3>
      <table>
        <tbody>
          {Object.entries(shortcuts).map(([id, { label }]) => (
            <tr key={id}>
              <td className="whitespace-nowrap">
                <Keys id={id as ShortcutId} />
              </td>
              <td>{label}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Fragment>
  ));
}

/** Every setting with its default; on a phone the meaning stands below the name. */
function SettingsTable() {
  return (
    <table className="max-sm:block">
      <thead className="max-sm:sr-only">
        <tr>
          <th>Setting</th>
          <th>Default</th>
          <th>Meaning</th>
        </tr>
      </thead>
      {settingGroups.map(({ title, rows }) => (
        <tbody key={title} className="max-sm:block">
          <tr className="max-sm:block">
            <th colSpan={3} scope="colgroup" className="pt-4 max-sm:block">
              {title}
            </th>
          </tr>
          {rows.map(({ name, preset, meaning }) => (
            <tr key={name} className="max-sm:flex max-sm:flex-wrap max-sm:gap-x-3 max-sm:border-b max-sm:py-1.5">
              <td className="max-sm:border-0 max-sm:p-0">
                <code>{name}</code>
              </td>
              <td className="whitespace-nowrap max-sm:border-0 max-sm:p-0">
                {preset === null ? <span className="text-ink-faint">not set</span> : <code>{preset}</code>}
              </td>
              <td className="max-sm:w-full max-sm:border-0 max-sm:p-0">{meaning}</td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

/** A link within the app, to the API or to another site. */
function Anchor({ href, children }: { href: string; children: ReactNode }) {
  if (!href.startsWith("/")) {
    return (
      <a href={href} target="_blank" rel="noreferrer">
        {children}
      </a>
    );
  }
  return href.startsWith("/api/") ? <a href={href}>{children}</a> : <Link href={href}>{children}</Link>;
}

/** The words of what stands in a heading. */
function wordsIn(node: ReactNode): string {
  if (Array.isArray(node)) return node.map(wordsIn).join("");
  if (isValidElement<{ children?: ReactNode }>(node)) return wordsIn(node.props.children);
  return typeof node === "string" || typeof node === "number" ? String(node) : "";
}

/** A heading that links lead to, those of the assistant among them. */
const headingOf = (Level: "h2" | "h3") =>
  function Heading({ children }: { children?: ReactNode }) {
    return (
      <Level id={anchorOf(wordsIn(children))} className="scroll-mt-20">
        {children}
      </Level>
    );
  };

/** A chapter, with its headings beside it where there is room. */
const Chapter = ({ children }: { children: ReactNode }) => (
  <div className="xl:grid xl:grid-cols-[minmax(0,48rem)_minmax(0,1fr)] xl:gap-x-10">
    <article className="prose max-w-192">{children}</article>
    <Contents />
  </div>
);

const components = {
  h2: headingOf("h2"),
  h3: headingOf("h3"),
  wrapper: Chapter,
  a: Anchor,
  Example,
  ApiAddress,
  ExpressionTable,
  FilterErrors,
  FilterGiven,
  FilterTable,
  NodeErrors,
  NodeExample,
  NodeFields,
  NodeTable,
  Picture,
  ShortcutTables,
  SettingsTable,
  Kbd,
  PricesAsOf: () => priceList.as_of,
};

/** Named by next.config.mjs: the loader of MDX asks it for each page. */
export const useMDXComponents = () => components;
