"use client";

import { Disclosure } from "#components/api-reference/disclosure.tsx";
import { MethodBadge } from "#components/api-reference/method-badge.tsx";
import type { ApiDocument, ListedOperation } from "#components/api-reference/openapi.ts";
import { OperationDetails } from "#components/api-reference/operation-details.tsx";

export interface OperationCardProps {
  operation: ListedOperation;
  document: ApiDocument;
  isOpen: boolean;
}

/** One operation: a line that opens to what it takes, what it answers, and a form that tries it. */
export function OperationCard({ operation, document, isOpen }: OperationCardProps) {
  return (
    <Disclosure
      id={operation.operationId}
      isOpen={isOpen}
      summary={
        <>
          <MethodBadge method={operation.method} />
          <code className="min-w-0 break-all font-mono text-12">{operation.path}</code>
          <span className="text-14 text-ink-soft sm:ml-auto">{operation.summary}</span>
        </>
      }
    >
      {() => <OperationDetails operation={operation} document={document} />}
    </Disclosure>
  );
}
