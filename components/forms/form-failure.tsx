"use client";

import type { ReactNode } from "react";
import { Notice } from "#components/ui/notice.tsx";
import type { ErrorBody } from "#server/shared/error-schema.ts";

/** What the server said when saving failed, word for word, with every field that it names. */
export function FormFailure({ failure, title, actions }: { failure: ErrorBody | null; title?: string; actions?: ReactNode }) {
  if (!failure) return null;
  const errors = failure.errors ?? [];
  return (
    <Notice tone="failed" {...(title !== undefined && { title })} {...(actions !== undefined && { actions })}>
      {failure.detail}
      {errors.length > 1 && (
        <ul className="mt-1 list-disc pl-4">
          {errors.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {path}: {message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}
