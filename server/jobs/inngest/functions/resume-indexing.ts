import { resumeIndexing as resume } from "#server/features/knowledge/documents.ts";
import { inngest } from "#server/jobs/inngest/client.ts";

/** Looks every five minutes for documents whose indexing got lost. */
export const resumeIndexing = () =>
  inngest().createFunction(
    { id: "resume-indexing", name: "Resume indexing", retries: 0, triggers: [{ cron: "*/5 * * * *" }] },
    ({ step }) => step.run("resume", () => resume()),
  );
