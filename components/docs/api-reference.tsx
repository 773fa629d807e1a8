"use client";

import { useEffect, useState } from "react";
import { type ApiDocument, operationsByTag } from "#components/docs/openapi.ts";
import { OperationCard } from "#components/docs/operation-card.tsx";
import { SchemaTable } from "#components/docs/schema-table.tsx";
import { Button } from "#components/ui/button.tsx";
import { Markdown } from "#components/ui/markdown.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { SearchField } from "#components/ui/search-field.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";

const SOURCE = "/api/v1/openapi.json";

const slug = (tag: string) => tag.toLowerCase().replaceAll(" ", "-");

/** Every operation of the REST API, drawn from the same document that tools read. */
export function ApiReference() {
  const [document, setDocument] = useState<ApiDocument | null>(null);
  const [isBroken, setIsBroken] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const [search, setSearch] = useState("");

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt loads again
  useEffect(() => {
    const aborter = new AbortController();
    setIsBroken(false);
    fetch(SOURCE, { signal: aborter.signal })
      .then((response) => (response.ok ? response.json() : Promise.reject(new Error(response.statusText))))
      .then((loaded: ApiDocument) => setDocument(loaded))
      .catch(() => !aborter.signal.aborted && setIsBroken(true));
    return () => aborter.abort();
  }, [attempt]);

  // The part that the address names is drawn only now.
  useEffect(() => {
    if (document && location.hash.length > 1) window.document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  }, [document]);

  if (isBroken) {
    return (
      <Notice tone="failed" actions={<Button onClick={() => setAttempt(attempt + 1)}>Try again</Button>}>
        The description of the API could not be loaded.
      </Notice>
    );
  }
  if (!document) {
    return (
      <div role="status" className="flex flex-col gap-4">
        <span className="sr-only">Loading the API reference</span>
        <Skeleton className="h-6 w-48" />
        <Skeleton className="h-40 w-full" />
        <Skeleton className="h-40 w-full" />
      </div>
    );
  }
  const wanted = search.trim().toLowerCase();
  const groups = [...operationsByTag(document)]
    .map(([tag, operations]) => ({
      tag,
      operations: operations.filter(({ method, path, summary }) => `${method} ${path} ${summary ?? ""}`.toLowerCase().includes(wanted)),
    }))
    .filter(({ operations }) => operations.length > 0);

  return (
    <div className="flex flex-col gap-8">
      <div className="flex flex-col gap-3">
        <h1 className="font-semibold text-18">API reference</h1>
        {document.info.description && <Markdown className="max-w-168">{document.info.description}</Markdown>}
        <p className="text-13 text-ink-soft">
          Base address <code className="rounded-sm bg-sunken px-1 font-mono text-12 text-ink">{document.servers?.[0]?.url}</code>, and the
          same as{" "}
          <a href={SOURCE} className="text-thread-text underline underline-offset-2">
            openapi.json
          </a>
          .
        </p>
        <SearchField label="Search operations" value={search} onValueChange={setSearch} className="max-w-80" />
        <nav aria-label="Resources" className="flex flex-wrap gap-x-4 gap-y-1">
          {groups.map(({ tag }) => (
            <a key={tag} href={`#${slug(tag)}`} className="inline-flex min-h-6 items-center text-13 text-thread-text hover:underline">
              {tag}
            </a>
          ))}
          <a href="#shapes" className="inline-flex min-h-6 items-center text-13 text-thread-text hover:underline">
            Shapes
          </a>
        </nav>
      </div>
      {groups.length === 0 && <p className="text-13 text-ink-soft">No operation matches “{search}”.</p>}
      {groups.map(({ tag, operations }) => (
        <section key={tag} id={slug(tag)} aria-label={tag} className="flex scroll-mt-18 flex-col gap-2">
          <h2 className="font-semibold text-16">{tag}</h2>
          {operations.map((operation) => (
            <OperationCard key={operation.operationId} operation={operation} document={document} />
          ))}
        </section>
      ))}
      <section id="shapes" aria-label="Shapes" className="flex scroll-mt-18 flex-col gap-6">
        <h2 className="font-semibold text-16">Shapes</h2>
        {Object.entries(document.components.schemas ?? {}).map(([name, schema]) => (
          <div key={name} id={`shape-${name}`} className="flex scroll-mt-18 flex-col gap-1.5">
            <h3 className="font-medium font-mono text-13">{name}</h3>
            <SchemaTable schema={schema} document={document} label={name} />
          </div>
        ))}
      </section>
    </div>
  );
}
