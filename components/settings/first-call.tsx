"use client";

import { useEffect, useState } from "react";
import { scopeOptions } from "#components/settings/key-scopes.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { CopyField } from "#components/ui/copy.tsx";
import { Link } from "#components/ui/link.tsx";
import { Tabs } from "#components/ui/tabs.tsx";

interface Call {
  base: string;
  slug: string;
}

/** The same first call in each language, with nothing to install. The key is read from where programs keep secrets. */
const LANGUAGES = {
  curl: ({ base, slug }: Call) => `curl ${base}/workflows \\
  -H "Authorization: Bearer $TREADLE_KEY" \\
  -H "X-Project-Slug: ${slug}"`,
  typescript: ({ base, slug }: Call) => `const answer = await fetch("${base}/workflows", {
  headers: {
    authorization: \`Bearer \${process.env.TREADLE_KEY}\`,
    "x-project-slug": "${slug}",
  },
});
if (!answer.ok) throw new Error(await answer.text());
const { items } = await answer.json();
for (const { id, name } of items) console.log(id, name);`,
  python: ({ base, slug }: Call) => `import json, os, urllib.request

request = urllib.request.Request("${base}/workflows", headers={
    "Authorization": f"Bearer {os.environ['TREADLE_KEY']}",
    "X-Project-Slug": "${slug}",
})
with urllib.request.urlopen(request) as answer:
    for workflow in json.load(answer)["items"]:
        print(workflow["id"], workflow["name"])`,
} as const;
type Language = keyof typeof LANGUAGES;
const NAMES: Record<Language, string> = { curl: "curl", typescript: "TypeScript", python: "Python" };

/** How a program reaches this project: address, slug, and a first call in its language. */
export function FirstCall() {
  const { project } = useStudio();
  const [language, setLanguage] = useState<Language>("curl");
  // Where this page came from, which the server does not know.
  const [origin, setOrigin] = useState("");
  useEffect(() => setOrigin(location.origin), []);
  const call = { base: `${origin}/api/v1`, slug: project.slug };
  return (
    <SettingsSection
      title="First call"
      description={
        <>
          It lists the workflows of {project.name}.{" "}
          <Link href="/docs/api" className="text-thread-text underline underline-offset-2">
            All operations
          </Link>{" "}
          and{" "}
          <Link href="/docs/clients" className="text-thread-text underline underline-offset-2">
            typed clients
          </Link>{" "}
          stand in the guide.
        </>
      }
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <CopyField label="Base address" value={call.base} what="base address" />
        <CopyField label="Project" hint="Sent as X-Project-Slug." value={project.slug} what="slug" />
      </div>
      <Tabs
        label="Language"
        value={language}
        onValueChange={setLanguage}
        panelClassName="pt-3"
        tabs={(Object.keys(LANGUAGES) as Language[]).map((value) => ({
          value,
          label: NAMES[value],
          content: <CodeBlock code={LANGUAGES[value](call)} label={`${NAMES[value]} call`} />,
        }))}
      />
      <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1 text-14">
        {scopeOptions.map(({ value, hint }) => (
          <div key={value} className="contents">
            <dt>
              <code>{value}</code>
            </dt>
            <dd className="text-ink-soft">{hint}</dd>
          </div>
        ))}
      </dl>
    </SettingsSection>
  );
}
