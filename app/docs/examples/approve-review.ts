import { success, TreadleError, treadle } from "./client.ts";

const path = { execution_id: process.env.EXECUTION_ID ?? "" };
const body = { decision: "approved", comment: "Looks good" } as const;
try {
  const { reviews } = success(await treadle.POST("/executions/{execution_id}/approve", { params: { path }, body }));
  console.log(reviews.map(({ label, decision }) => `${label}: ${decision}`).join("\n"));
} catch (error) {
  // 409: somebody was faster. The sentence says who, and when.
  if (error instanceof TreadleError && error.body.error_code === "CONFLICT") console.log(error.message);
  else throw error;
}
