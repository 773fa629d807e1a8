import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { cn } from "#components/ui/cn.ts";

// A single tilde stands for "about" more often than for the beginning of something struck out.
const GITHUB = [[remarkGfm, { singleTilde: false }]] satisfies Parameters<typeof ReactMarkdown>[0]["remarkPlugins"];

/** Text of people and models in GitHub's Markdown. Raw HTML in it stays text; links open beside. */
export function Markdown({ className, children }: { className?: string; children: string }) {
  return (
    <div className={cn("prose", className)}>
      <ReactMarkdown
        remarkPlugins={GITHUB}
        components={{
          // Headings of the text stand under those of the page, whatever they call themselves.
          h1: ({ node: _, ...rest }) => <h3 {...rest} className="mt-8 text-18 first:mt-0" />,
          h2: ({ node: _, ...rest }) => <h4 {...rest} className="mt-8 font-semibold text-16 first:mt-0" />,
          h3: ({ node: _, ...rest }) => <h5 {...rest} className="mt-6 font-semibold text-14 first:mt-0" />,
          h4: ({ node: _, ...rest }) => <h6 {...rest} className="mt-6 font-semibold text-13 first:mt-0" />,
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
          a: ({ node: _, ...rest }) => <a {...rest} target="_blank" rel="noreferrer" />,
        }}
      >
        {children}
      </ReactMarkdown>
    </div>
  );
}
