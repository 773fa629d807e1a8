import { assistantAsked, bulkAsked, documentAdded, reviewOpened, reviewOverlooked } from "#server/events/events.ts";
import { assistantTools } from "#server/features/assistant/offered-tools.ts";
import { carryThread } from "#server/features/assistant/work.ts";
import { settleForgotten } from "#server/features/budgets/holds.ts";
import { releaseWaits } from "#server/features/budgets/waits.ts";
import { removeUnread } from "#server/features/canvases/readings.ts";
import { rollUpHours } from "#server/features/canvases/roll-up-hours.ts";
import { failBulk, resumeBulk, workOnBulk } from "#server/features/executions/bulk-work.ts";
import { countAhead, measureProjects, tidyExecutions } from "#server/features/executions/tidy-executions.ts";
import { resumeIndexing } from "#server/features/knowledge/documents.ts";
import { embedPieces, failIndexing, storePieces } from "#server/features/knowledge/index-document.ts";
import { tidyNotifications } from "#server/features/notifications/service.ts";
import { mailReview, remindReviewers, tellReviewers } from "#server/features/reviews/tell.ts";
import { fireDueSchedules } from "#server/features/schedules/fire-due-schedules.ts";
import { rebuildSearchWords } from "#server/features/search/rebuild-words.ts";
import { tidyPasswordResets } from "#server/features/security/password-reset.ts";
import { foldUsage } from "#server/features/usage/record.ts";
import { tidyDeliveries } from "#server/features/webhooks/deliveries.ts";
import { defineJob, type Job } from "#server/jobs/job.ts";
import { runWorkflow } from "#server/jobs/run-workflow.ts";
import { tidySessions } from "#server/platform/auth/session.ts";
import { log } from "#server/platform/log.ts";
import { tidyEmails } from "#server/platform/mail/outbox.ts";
import { tidyKeys } from "#server/platform/rpc/idempotency.ts";
import { addMissingWords } from "#server/runs/store/missing-words.ts";

/** Steps of one indexing, far below an Inngest server's 1,000; each embeds for some seconds. */
const MOST_EMBEDDINGS = 500;
/** How many turns something that is done with many runs gets, of ten seconds at most. */
const MOST_TURNS = 400;
/** How many turns of 20 seconds tidying gets in an hour, and looking for words in five minutes; what is left waits for the next. */
const TIDY_TURNS = 30;
const WORD_TURNS = 10;

/** A job that does the same at times, as five fields of cron in UTC, one step after the other. What fails is done at the next time. */
const atTimes = (
  cron: string,
  { steps, ...job }: Pick<Job, "id" | "name" | "concurrency"> & { steps: Record<string, () => Promise<unknown>> },
): Job =>
  defineJob({
    ...job,
    trigger: { cron },
    retries: 0,
    async handler({ step }) {
      for (const [id, work] of Object.entries(steps)) await step.run(id, work);
    },
  });

/**
 * What graphile-worker carries by default, from its tables. One that works for a project is limited in it, so that no project
 * keeps others waiting.
 */
export const queuedJobs: readonly Job[] = [
  // Each step finds in PostgreSQL what is done, so a process that dies costs at most one call of the embedding model.
  defineJob({
    id: "index-document",
    name: "Index a document",
    trigger: { event: documentAdded },
    retries: 6,
    idempotency: "event.data.document_id + '-' + string(event.data.generation)",
    concurrency: { key: "event.data.project_id", limit: 2 },
    async handler({ event: { data }, step }) {
      let { isOver } = await step.run("store pieces", () => storePieces(data));
      for (let n = 0; n < MOST_EMBEDDINGS && !isOver; n++) ({ isOver } = await step.run(`embed ${n}`, () => embedPieces(data)));
    },
    // A sentence of ours says what to do; anything else is for the log only.
    onFailure: ({ event: { data }, error }) =>
      failIndexing(
        data,
        `${error.name === "AppError" ? error.message : "The document could not be indexed."} It was tried several times: index it again later.`,
      ),
  }),
  // Rows say where a thread is, so a job that comes twice does nothing, and one that gets lost is asked for again by the sweeper.
  defineJob({
    id: "carry-thread",
    name: "Work on a thread of the assistant",
    trigger: { event: assistantAsked },
    retries: 3,
    concurrency: { key: "event.data.project_id", limit: 5 },
    handler: ({ event: { data }, step }) => step.run("carry", () => carryThread(data.thread_id, assistantTools)),
    onFailure: ({ event: { data }, error }) => log.error({ err: error, thread_id: data.thread_id }, "a thread could not be worked on"),
  }),
  // The row says which runs were dealt with, each in the transaction that did it. One whose hour is used up sleeps until there is room.
  defineJob({
    id: "bulk-action",
    name: "Do something with many runs",
    trigger: { event: bulkAsked },
    retries: 6,
    concurrency: { key: "event.data.project_id", limit: 1 },
    async handler({ event: { data }, step }) {
      for (let turn = 0; turn < MOST_TURNS; turn++) {
        const { isOver, waitMs } = await step.run(`turn ${turn}`, () => workOnBulk(data.bulk_id));
        if (isOver) break;
        if (waitMs > 0) await step.sleep(`room ${turn}`, waitMs);
      }
    },
    onFailure: ({ event: { data }, error }) => {
      log.error({ err: error, bulk_id: data.bulk_id }, "something that was to be done with many runs broke off");
      return failBulk(data.bulk_id);
    },
  }),
  // In the web app, and by email where the node names an address. Emails are queued, so a mail server that is down holds nothing up.
  defineJob({
    id: "notify-review",
    name: "Tell reviewers",
    trigger: { event: reviewOpened },
    retries: 10,
    idempotency: "event.data.review_id",
    async handler({ event: { data }, step }) {
      await step.run("tell members", () => tellReviewers(data.review_id));
      await step.run("queue mail", () => mailReview(data.review_id));
    },
    onFailure: ({ event: { data }, error }) =>
      log.error({ err: error, review_id: data.review_id }, "people could not be told of a review; it waits all the same"),
  }),
  // The row knows how often people were reminded, so a job that comes twice reminds once; mails are known by their ids.
  defineJob({
    id: "remind-reviewers",
    name: "Remind reviewers",
    trigger: { event: reviewOverlooked },
    retries: 10,
    idempotency: "event.data.review_id + '-' + string(event.data.count)",
    async handler({ event: { data }, step }) {
      await step.run("tell members", () => remindReviewers(data));
      await step.run("queue mail", () => mailReview(data.review_id, data.count));
    },
    onFailure: ({ event: { data }, error }) =>
      log.error({ err: error, review_id: data.review_id }, "people could not be reminded of a review; it waits all the same"),
  }),
  // What it misses while nothing runs, the start of a worker makes up for.
  atTimes("* * * * *", { id: "fire-schedules", name: "Fire schedules", steps: { fire: () => fireDueSchedules() } }),
  // Keeps single calls few, so that usage is read from sums.
  atTimes("*/5 * * * *", {
    id: "fold-usage",
    name: "Add calls to the usage of their days",
    concurrency: { limit: 1 },
    steps: { fold: () => foldUsage() },
  }),
  // Has runs go on whose budget has room again, and counts calls whose process died.
  atTimes("* * * * *", {
    id: "sweep-budgets",
    name: "Look after budgets",
    concurrency: { limit: 1 },
    steps: { settle: () => settleForgotten(), release: () => releaseWaits() },
  }),
  // Asks for documents whose indexing got lost.
  atTimes("*/5 * * * *", { id: "resume-indexing", name: "Resume indexing", steps: { resume: () => resumeIndexing() } }),
  // Asks for what is done with many runs and got lost.
  atTimes("*/5 * * * *", {
    id: "resume-bulk-actions",
    name: "Resume what is done with many runs",
    steps: { resume: () => resumeBulk() },
  }),
  // After an upgrade from a version without the search; nothing is to be done once all runs have their words.
  defineJob({
    id: "add-missing-words",
    name: "Add the words by which older runs are found",
    trigger: { cron: "*/5 * * * *" },
    retries: 0,
    concurrency: { limit: 1 },
    async handler({ step }) {
      for (let turn = 0; turn < WORD_TURNS; turn++) if (!(await step.run(`add ${turn}`, () => addMissingWords()))) break;
    },
  }),
  // After an upgrade from a release that indexed texts in another form.
  defineJob({
    id: "rebuild-search-words",
    name: "Rebuild the index of words",
    trigger: { cron: "*/5 * * * *" },
    retries: 0,
    concurrency: { limit: 1 },
    async handler({ step }) {
      for (let turn = 0; turn < WORD_TURNS; turn++) if (!(await step.run(`rebuild ${turn}`, () => rebuildSearchWords()))) break;
    },
  }),
  // Adds up the values of hours that are over, and forgets what no widget reads.
  atTimes("*/5 * * * *", {
    id: "tidy-readings",
    name: "Tidy what widgets read",
    concurrency: { limit: 1 },
    steps: { "fold hours": () => rollUpHours(), forget: () => removeUnread() },
  }),
  // Keeps the log of webhook deliveries short, and forgets what has expired.
  atTimes("17 * * * *", {
    id: "tidy-deliveries",
    name: "Tidy webhook deliveries",
    steps: {
      tidy: () => tidyDeliveries(),
      "tidy idempotency keys": () => tidyKeys(),
      "tidy sessions": () => tidySessions(),
      "tidy password links": () => tidyPasswordResets(),
      "tidy emails": () => tidyEmails(),
    },
  }),
  // Keeps to what each project's retention says, finishes deleting projects, and removes what nobody needs any more.
  defineJob({
    id: "tidy-executions",
    name: "Tidy executions",
    trigger: { cron: "41 * * * *" },
    retries: 0,
    concurrency: { limit: 1 },
    async handler({ step }) {
      for (let turn = 0; turn < TIDY_TURNS; turn++) if (!(await step.run(`tidy ${turn}`, () => tidyExecutions()))) break;
      await step.run("measure", () => measureProjects());
      await step.run("count ahead", () => countAhead());
      await step.run("notifications", () => tidyNotifications());
    },
  }),
];

/**
 * Every job. By default the row of an execution is its entry in the queue (decision 22): server/runs/worker takes rows that are
 * due and runs the handler of `runWorkflow` with their leases.
 */
export const jobs: readonly Job[] = [runWorkflow, ...queuedJobs];
