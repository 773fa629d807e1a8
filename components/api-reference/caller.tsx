"use client";

import { type ReactNode, useMemo, useState } from "react";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { createStrictContext } from "#components/ui/strict-context.ts";

/** As whom the reference calls. It lives in this page's memory and nowhere else. */
interface Caller {
  key: string;
  project: string;
  setKey(key: string): void;
  setProject(project: string): void;
}

const [CallerContext, useCaller] = createStrictContext<Caller>("CallerProvider");

export { useCaller };

export function CallerProvider({ children }: { children: ReactNode }) {
  const [key, setKey] = useState("");
  const [project, setProject] = useState("");
  const caller = useMemo(() => ({ key, project, setKey, setProject }), [key, project]);
  return <CallerContext value={caller}>{children}</CallerContext>;
}

/** Where a key can be pasted and a project named, for every call of the page. */
export function CallerFields() {
  const { key, project, setKey, setProject } = useCaller();
  return (
    <section aria-label="Try it as" className="flex flex-col gap-3 rounded-lg border bg-surface p-4">
      <p className="text-14 text-ink-soft">
        Every operation can be tried here, on this install’s real data.{" "}
        {key === "" ? "Calls use your session in this browser." : "Calls use the key below."}
      </p>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="API key" isOptional hint="Kept in this page’s memory only, until you leave it.">
          <Input
            type="password"
            autoComplete="off"
            spellCheck={false}
            placeholder="sk-service-…"
            value={key}
            onChange={(event) => setKey(event.target.value.trim())}
          />
        </Field>
        <Field label="Project slug" isOptional hint="Needed when you are in several projects.">
          <Input
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="X-Project-Slug"
            value={project}
            onChange={(event) => setProject(event.target.value.trim())}
          />
        </Field>
      </div>
    </section>
  );
}
