import { embedPieces, failIndexing, storePieces } from "#server/features/knowledge/index-document.ts";
import { documentAdded } from "#server/jobs/events.ts";
import { inngest } from "#server/jobs/inngest/client.ts";

/** Steps of one run, far below Inngest's 1,000; each embeds for some seconds. */
const MOST_STEPS = 500;

/**
 * Indexes a document of a RAG source. Each step finds in PostgreSQL what is done, so a process that dies costs at most one
 * call of the embedding model.
 */
export const indexDocument = () =>
  inngest().createFunction(
    {
      id: "index-document",
      name: "Index a document",
      retries: 6,
      triggers: [documentAdded],
      idempotency: "event.data.document_id + '-' + string(event.data.generation)",
      concurrency: [{ key: "event.data.project_id", limit: 2 }],
      onFailure: ({ event, error }) => {
        const { document_id, generation } = event.data.event.data;
        // A sentence of ours says what to do; anything else is for the log only.
        const isOurs = error.name === "AppError";
        return failIndexing(
          { document_id, generation },
          `${isOurs ? error.message : "The document could not be indexed."} It was tried several times: index it again later.`,
        );
      },
    },
    async ({ event, step }) => {
      const { document_id, generation } = event.data;
      let { isOver } = await step.run("store pieces", () => storePieces({ document_id, generation }));
      for (let n = 0; n < MOST_STEPS && !isOver; n++)
        ({ isOver } = await step.run(`embed ${n}`, () => embedPieces({ document_id, generation })));
    },
  );
