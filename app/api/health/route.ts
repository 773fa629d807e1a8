import { health } from "#server/api/health.ts";

export const GET = health;
