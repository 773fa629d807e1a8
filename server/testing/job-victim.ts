// A process of its own that a test kills: it runs the jobs of the product on the database of the test.
import { startTestJobs } from "#server/testing/jobs.ts";

await startTestJobs();
