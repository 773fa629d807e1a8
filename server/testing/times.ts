/** How many times as many generated cases there are as in `npm test`. `npm run test:faults` has more (server/vitest.config.ts). */
const SCALE = Number(process.env.TEST_SCALE ?? 1);

/** How many generated cases a test tries, of which `npm test` tries `count`. */
export const times = (count: number): number => Math.max(1, Math.round(count * SCALE));
