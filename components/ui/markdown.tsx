import Link from "next/link";
import ReactMarkdown, { type ExtraProps } from "react-markdown";
import remarkGfm from "remark-gfm";
import { cn } from "#components/ui/cn.ts";

// A single tilde stands for "about" more often than for the beginning of something struck out.
const GITHUB = [[remarkGfm, { singleTilde: false }]] satisfies Parameters<typeof ReactMarkdown>[0]["remarkPlugins"];

type HtmlElement = NonNullable<ExtraProps["node"]>;
type HtmlContent = HtmlElement["children"][number];

/** The host that an address on the web names; null for one of this service, and for what is none. */
function hostOf(address: string): string | null {
  if (!URL.canParse(address, "http://here.invalid")) return null;
  const { protocol, host } = new URL(address, "http://here.invalid");
  return /^https?:$/.test(protocol) && host !== "here.invalid" ? host : null;
}

/**
 * What stands in an image's place: nothing in a text may be loaded because somebody looks at it, since the address itself may
 * carry away what the text was made of, and one of this service would be asked in the reader's name.
 */
function imagePlace({ properties }: HtmlElement, isInLink: boolean): HtmlContent {
  const [source, alt] = [String(properties.src ?? ""), String(properties.alt ?? "").trim()];
  const host = hostOf(source);
  const words: HtmlContent = { type: "text", value: `${alt ? `Image: ${alt}` : "Image"}${host ? ` (${host})` : ""}` };
  return host && !isInLink ? { type: "element", tagName: "a", properties: { href: source }, children: [words] } : words;
}

function withoutImages(children: readonly HtmlContent[], isInLink: boolean): HtmlContent[] {
  return children.map((child) => {
    if (child.type !== "element") return child;
    if (child.tagName === "img") return imagePlace(child, isInLink);
    return { ...child, children: withoutImages(child.children, isInLink || child.tagName === "a") };
  });
}

/** Puts a link with the image's words and host in the place of each image. */
const imagesAsLinks = () => (tree: { children: HtmlContent[] }) => ({ ...tree, children: withoutImages(tree.children, false) });

/** A page of this service, and none of its other addresses. (Browsers take more than two slashes for the beginning of a host.) */
const isPage = (href: string | undefined): href is string =>
  href !== undefined && /^\/(?!api(\/|$))[\w./?#=&-]*$/.test(href) && !/\/\/|\.\./.test(href);

export interface MarkdownProps {
  /** Links to pages of this service open in place of the page: for texts that stay beside it. */
  isGuide?: boolean;
  className?: string;
  children: string;
}

/** Text of people and models in GitHub's Markdown. Raw HTML in it stays text, images are links; links open beside and tell nothing. */
export function Markdown({ isGuide = false, className, children }: MarkdownProps) {
  return (
    <div className={cn("prose", className)}>
      <ReactMarkdown
        remarkPlugins={GITHUB}
        rehypePlugins={[imagesAsLinks]}
        components={{
          // Headings of the text stand under those of the page, whatever they call themselves.
          h1: ({ node: _, ...rest }) => <h3 {...rest} className="mt-8 text-18 first:mt-0" />,
          h2: ({ node: _, ...rest }) => <h4 {...rest} className="mt-8 font-semibold text-16 first:mt-0" />,
          h3: ({ node: _, ...rest }) => <h5 {...rest} className="mt-6 font-semibold text-14 first:mt-0" />,
          h4: ({ node: _, ...rest }) => <h6 {...rest} className="mt-6 font-semibold text-14 first:mt-0" />,
          // A wide one scrolls by itself, by keyboard too.
          table: ({ node: _, ...rest }) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is no box for a table
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
            <div role="group" aria-label="Table" tabIndex={0} className="max-w-full overflow-x-auto">
              <table {...rest} />
            </div>
          ),
          // The box of a task.
          input: ({ node: _, ...rest }) => <input {...rest} aria-label={rest.checked ? "Done" : "To do"} />,
          a: ({ node: _, href, ...rest }) =>
            isGuide && isPage(href) ? (
              <Link href={href} prefetch={false}>
                {rest.children}
              </Link>
            ) : (
              <a {...rest} href={href} target="_blank" rel="noopener noreferrer nofollow" />
            ),
        }}
      >
        {children}
      </ReactMarkdown>
    </div>
  );
}
