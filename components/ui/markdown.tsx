import ReactMarkdown from "react-markdown";
import { cn } from "#components/ui/cn.ts";

/** Text of people and models in Markdown. Raw HTML in it stays text; links open beside. */
export function Markdown({ className, children }: { className?: string; children: string }) {
  return (
    <div className={cn("prose", className)}>
      <ReactMarkdown
        components={{
          a: ({ node: _, ...rest }) => <a {...rest} target="_blank" rel="noreferrer" />,
        }}
      >
        {children}
      </ReactMarkdown>
    </div>
  );
}
