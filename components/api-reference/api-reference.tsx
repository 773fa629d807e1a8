"use client";

import { useDeferredValue, useEffect, useMemo, useState } from "react";
import { CallerFields, CallerProvider } from "#components/api-reference/caller.tsx";
import { Disclosure } from "#components/api-reference/disclosure.tsx";
import { type ApiDocument, operationGroups, searchGroups } from "#components/api-reference/openapi.ts";
import { OperationCard } from "#components/api-reference/operation-card.tsx";
import { ReferenceNavigation, slugOf } from "#components/api-reference/reference-navigation.tsx";
import { SchemaTable } from "#components/api-reference/schema-table.tsx";
import { Button } from "#components/ui/button.tsx";
import { Markdown } from "#components/ui/markdown.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";

const SOURCE = "/api/v1/openapi.json";

/** The part of the page that the address names, followed as it changes. */
function useHash(): string {
  const [hash, setHash] = useState("");
  useEffect(() => {
    const read = () => setHash(decodeURIComponent(location.hash.slice(1)));
    read();
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  return hash;
}

/** Every operation of the REST API, drawn from the same document that tools read. */
export function ApiReference() {
  const [document, setDocument] = useState<ApiDocument | null>(null);
  const [isBroken, setIsBroken] = useState(false);
  const [attempt, setAttempt] = useState(0);

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
  return (
    <CallerProvider>
      <Reference document={document} />
    </CallerProvider>
  );
}

function Reference({ document }: { document: ApiDocument }) {
  const [search, setSearch] = useState("");
  const hash = useHash();
  const groups = useMemo(() => operationGroups(document), [document]);
  const wanted = useDeferredValue(search);
  const found = useMemo(() => searchGroups(groups, wanted), [groups, wanted]);

  // What the address names is drawn only now.
  useEffect(() => {
    if (hash) window.document.getElementById(hash)?.scrollIntoView();
  }, [hash]);

  return (
    <div className="flex flex-col gap-6">
      <header className="flex flex-col gap-3">
        <h1 className="font-semibold text-24">API reference</h1>
        {document.info.description && <Markdown className="max-w-168">{document.info.description}</Markdown>}
        <p className="text-14 text-ink-soft">
          Base address <code className="rounded-sm bg-sunken px-1 font-mono text-12 text-ink">{document.servers?.[0]?.url}</code>, and the
          same as{" "}
          <a href={SOURCE} className="text-thread-text underline underline-offset-2">
            openapi.json
          </a>
          .
        </p>
        <CallerFields />
      </header>
      <div className="grid gap-x-8 gap-y-6 lg:grid-cols-[176px_minmax(0,1fr)]">
        <ReferenceNavigation groups={found} search={search} onSearch={setSearch} />
        <div className="flex min-w-0 flex-col gap-8">
          {found.length === 0 && <p className="text-14 text-ink-soft">No operation matches “{search}”.</p>}
          {found.map(({ tag, description, operations }) => (
            <section key={tag} id={slugOf(tag)} aria-label={tag} className="flex scroll-mt-18 flex-col gap-2">
              <h2 className="font-semibold text-16">{tag}</h2>
              {description && <p className="text-14 text-ink-soft">{description}</p>}
              {operations.map((operation) => (
                <OperationCard
                  key={operation.operationId}
                  operation={operation}
                  document={document}
                  isOpen={hash === operation.operationId}
                />
              ))}
            </section>
          ))}
          <Shapes document={document} hash={hash} />
        </div>
      </div>
    </div>
  );
}

function Shapes({ document, hash }: { document: ApiDocument; hash: string }) {
  return (
    <section id="shapes" aria-label="Shapes" className="flex scroll-mt-18 flex-col gap-2">
      <h2 className="font-semibold text-16">Shapes</h2>
      {Object.entries(document.components.schemas ?? {}).map(([name, schema]) => (
        <Disclosure
          key={name}
          id={`shape-${name}`}
          isOpen={hash === `shape-${name}`}
          summary={
            <>
              <code className="font-mono text-12">{name}</code>
              {schema.description && <span className="min-w-0 text-14 text-ink-soft sm:ml-auto">{schema.description}</span>}
            </>
          }
        >
          {() => <SchemaTable schema={schema} document={document} label={name} />}
        </Disclosure>
      ))}
    </section>
  );
}
