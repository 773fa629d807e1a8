"use client";

import type { ReactNode } from "react";
import {
  type ApiDocument,
  type ApiResponse,
  describeSchema,
  type ListedOperation,
  resolve,
  typeName,
} from "#components/api-reference/openapi.ts";
import { SchemaTable } from "#components/api-reference/schema-table.tsx";
import { TryIt } from "#components/api-reference/try-it.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { Markdown } from "#components/ui/markdown.tsx";

interface PartProps {
  operation: ListedOperation;
  document: ApiDocument;
}

const SECURITY: Record<string, string> = { bearer: "an API key as bearer token", token: "an API key in the query as token" };

/** How a caller shows who it is. */
function securityText({ security = [] }: ListedOperation): string {
  const ways = security.flatMap((way) => Object.keys(way)).map((name) => SECURITY[name] ?? name);
  return ways.length ? `Takes ${ways.join(", or ")}.` : "Takes no key.";
}

/** All that there is to know of an operation, and the form that tries it. */
export function OperationDetails({ operation, document }: PartProps) {
  return (
    <>
      <div className="flex flex-col gap-1">
        {operation.description && <Markdown>{operation.description}</Markdown>}
        <p className="text-12 text-ink-faint">{securityText(operation)}</p>
      </div>
      <Part title="Try it">
        <TryIt operation={operation} document={document} />
      </Part>
      <Parameters operation={operation} />
      <Bodies operation={operation} document={document} />
      <Answers operation={operation} document={document} />
      <Errors operation={operation} document={document} />
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <h3 className="font-semibold text-12">{title}</h3>
      {children}
    </div>
  );
}

function Parameters({ operation: { parameters = [] } }: Pick<PartProps, "operation">) {
  if (parameters.length === 0) return null;
  return (
    <Part title="Parameters">
      <div className="overflow-x-auto">
        <table aria-label="Parameters" className="w-full text-12">
          <tbody>
            {parameters.map(({ in: place, name, required, schema = {}, description = schema.description }) => (
              <tr key={place + name} className="border-t align-top first:border-t-0">
                <th scope="row" className="w-44 py-1.5 pr-4 text-left font-semibold font-mono">
                  {name}
                  {required && (
                    <span className="text-failed" title="required">
                      *<span className="sr-only"> required</span>
                    </span>
                  )}
                </th>
                <td className="py-1.5 pr-4 text-ink-faint">
                  {place}
                  <span className="block font-mono text-ink-soft">{typeName(schema)}</span>
                </td>
                <td className="w-1/2 py-1.5 text-ink-soft">
                  {describeSchema(schema, description)}
                  {schema.default !== undefined && <span className="text-ink-faint"> Default {JSON.stringify(schema.default)}.</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Part>
  );
}

const KIND: Record<string, string> = { "multipart/form-data": "Body as a form", "text/plain": "Body as text" };

function Bodies({ operation: { requestBody }, document }: PartProps) {
  return Object.entries(requestBody?.content ?? {}).map(([type, media]) => (
    <Part key={type} title={KIND[type] ?? "Body"}>
      {requestBody?.description && <p className="text-12 text-ink-soft">{requestBody.description}</p>}
      {media.schema && <SchemaTable schema={media.schema} document={document} label={KIND[type] ?? "Body"} />}
      {media.example !== undefined && (
        <CodeBlock label="example of the body" title="Example" code={JSON.stringify(media.example, null, 2)} />
      )}
    </Part>
  ));
}

/** What a success brings, for each of its types of content. */
function Success({ response, document }: { response: ApiResponse; document: ApiDocument }) {
  const content = Object.entries(response.content ?? {});
  if (content.length === 0) return <p className="text-12 text-ink-soft">No body.</p>;
  return content.map(([type, { schema, example }]) => {
    const isStream = type === "text/event-stream";
    const events = isStream && schema ? (resolve(schema, document.components.schemas).oneOf ?? []) : [];
    return (
      <div key={type} className="flex min-w-0 flex-col gap-2">
        {content.length > 1 && <p className="font-mono text-12 text-ink-faint">{type}</p>}
        {isStream && <Markdown>{response.description ?? ""}</Markdown>}
        {events.length > 0 ? (
          <ul className="flex flex-col gap-1 text-12">
            {events.map((event) => {
              const shape = resolve(event, document.components.schemas);
              return (
                <li key={typeName(event)} className="flex flex-wrap gap-x-3">
                  <code className="font-mono">{String(shape.properties?.type?.const ?? typeName(event))}</code>
                  <a href={`#shape-${typeName(event)}`} className="text-thread-text underline underline-offset-2">
                    {typeName(event)}
                  </a>
                  <span className="text-ink-soft">{shape.description}</span>
                </li>
              );
            })}
          </ul>
        ) : (
          schema && <SchemaTable schema={schema} document={document} label="Answer" />
        )}
        {example !== undefined && <CodeBlock label="example of the answer" title="Example" code={JSON.stringify(example, null, 2)} />}
      </div>
    );
  });
}

function Answers({ operation, document }: PartProps) {
  const successes = Object.entries(operation.responses).filter(([code]) => code.startsWith("2"));
  return successes.map(([code, response]) => (
    <Part key={code} title={`Answer ${code}`}>
      <Success response={resolve(response, document.components.responses)} document={document} />
    </Part>
  ));
}

function Errors({ operation, document }: PartProps) {
  const errors = Object.entries(operation.responses).filter(([code]) => !code.startsWith("2"));
  return (
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
  );
}
