import { readiness } from "#server/http/health.ts";

export const GET = readiness;
