"use client";

import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { type ApiDocument, type ListedOperation, resolve } from "#components/docs/openapi.ts";
import { SchemaTable } from "#components/docs/schema-table.tsx";
import { cn } from "#components/ui/cn.ts";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { Markdown } from "#components/ui/markdown.tsx";

const METHODS: Record<string, string> = {
  GET: "bg-role-interface-soft text-role-interface",
  POST: "bg-complete-soft text-complete",
  PUT: "bg-waiting-soft text-waiting",
  DELETE: "bg-failed-soft text-failed",
};

/** A curl command for the operation, with placeholders for what it needs. */
function curlOf({ method, path, requestBody, security }: ListedOperation, base: string): string {
  const address = base + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}${address}`,
    ...((security?.length ?? 0) > 0 ? ['-H "Authorization: Bearer $TREADLE_KEY"'] : []),
    ...(requestBody ? ['-H "Content-Type: application/json"', "-d '{…}'"] : []),
  ].join(" \\\n  ");
}

export function OperationCard({ operation, document }: { operation: ListedOperation; document: ApiDocument }) {
  const parameters = (operation.parameters ?? []).map((parameter) => resolve(parameter, document.components.parameters));
  const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  const [status, success] = Object.entries(operation.responses).find(([code]) => code.startsWith("2")) ?? [];
  const errors = Object.entries(operation.responses).filter(([code]) => !code.startsWith("2"));
  const answer = success?.content?.["application/json"]?.schema;
  return (
    <details id={operation.operationId} className="group scroll-mt-18 rounded-lg border bg-surface open:pb-4">
      <summary className="flex min-h-11 cursor-pointer list-none flex-wrap items-center gap-x-3 gap-y-1 rounded-lg px-3 py-2 hover:bg-hover [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-3.5 shrink-0 text-ink-faint transition-transform group-open:rotate-90" />
        <span
          className={cn(
            "w-14 shrink-0 rounded-sm py-0.5 text-center font-medium font-mono text-11",
            METHODS[operation.method] ?? "bg-sunken",
          )}
        >
          {operation.method}
        </span>
        <code className="min-w-0 break-all font-mono text-12">{operation.path}</code>
        <span className="text-13 text-ink-soft sm:ml-auto">{operation.summary}</span>
      </summary>
      <div className="flex flex-col gap-5 px-4 pt-3">
        {operation.description && <Markdown>{operation.description}</Markdown>}
        <CodeBlock label="command" code={curlOf(operation, document.servers?.[0]?.url ?? "")} />
        {parameters.length > 0 && (
          <Part title="Parameters">
            <div className="overflow-x-auto">
              <table aria-label="Parameters" className="w-full text-12">
                <tbody>
                  {parameters.map((parameter) => (
                    <tr key={parameter.in + parameter.name} className="border-t align-top first:border-t-0">
                      <th scope="row" className="w-44 py-1.5 pr-4 text-left font-medium font-mono">
                        {parameter.name}
                      </th>
                      <td className="py-1.5 pr-4 text-ink-faint">{parameter.in}</td>
                      <td className="w-1/2 py-1.5 text-ink-soft">{parameter.description ?? parameter.schema?.description}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </Part>
        )}
        {body && (
          <Part title="Body">
            <SchemaTable schema={body} document={document} label="Body" without={inPath} />
          </Part>
        )}
        {status !== undefined && (
          <Part title={`Answer ${status}`}>
            {answer ? (
              <SchemaTable schema={answer} document={document} label="Answer" />
            ) : (
              <p className="text-12 text-ink-soft">{status === "204" ? "No body." : success?.description}</p>
            )}
          </Part>
        )}
        <Part title="Errors">
          <ul className="flex flex-col gap-1 text-12 text-ink-soft">
            {errors.map(([code, response]) => (
              <li key={code} className="flex gap-3">
                <span className="font-mono text-ink tabular">{code}</span>
                {resolve(response, document.components.responses).description}
              </li>
            ))}
          </ul>
        </Part>
      </div>
    </details>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1.5">
      <h3 className="font-semibold text-12">{title}</h3>
      {children}
    </div>
  );
}
