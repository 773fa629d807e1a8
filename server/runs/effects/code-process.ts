import { serveJobs } from "#server/platform/children/program.ts";
import { messageOf } from "#server/platform/errors.ts";
import { type CodeAnswer, type CodeRequest, codeFaultOf, execute } from "#server/runs/effects/code-sandbox.ts";

// A program of its own, started by code.ts: checks and runs the Python of code nodes, one at a time. It may be killed at any moment.

await serveJobs((request: CodeRequest): CodeAnswer => {
  try {
    return request.inputs ? execute(request.code, request.inputs, request.seconds) : { fault: codeFaultOf(request.code, request.names) };
  } catch (error) {
    return { failure: messageOf(error), printed: "" };
  }
});
