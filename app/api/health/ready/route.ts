import { readiness } from "#server/api/health.ts";

export const GET = readiness;
