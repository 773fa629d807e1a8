import ReactMarkdown from "react-markdown";
import { cn } from "#components/ui/cn.ts";

/** Text of people and models in Markdown. Raw HTML in it stays text; links open beside. */
export function Markdown({ className, children }: { className?: string; children: string }) {
  return (
    <div className={cn("prose", className)}>
      <ReactMarkdown
        components={{
          // Headings of the text stand under those of the page, whatever they call themselves.
          h1: ({ node: _, ...rest }) => <h3 {...rest} className="mt-8 text-18 first:mt-0" />,
          h2: ({ node: _, ...rest }) => <h4 {...rest} className="mt-8 font-semibold text-16 first:mt-0" />,
          h3: ({ node: _, ...rest }) => <h5 {...rest} className="mt-6 font-semibold text-14 first:mt-0" />,
          h4: ({ node: _, ...rest }) => <h6 {...rest} className="mt-6 font-semibold text-13 first:mt-0" />,
          a: ({ node: _, ...rest }) => <a {...rest} target="_blank" rel="noreferrer" />,
        }}
      >
        {children}
      </ReactMarkdown>
    </div>
  );
}
