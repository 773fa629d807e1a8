import { health } from "#server/http/health.ts";

export const GET = health;
