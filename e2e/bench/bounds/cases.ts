import type { Case } from "#e2e/bench/bounds/attack.ts";
import { canvasCases } from "#e2e/bench/bounds/canvas-cases.ts";
import { connectionCases } from "#e2e/bench/bounds/connection-cases.ts";
import { runCases } from "#e2e/bench/bounds/run-cases.ts";
import { saveCases } from "#e2e/bench/bounds/save-cases.ts";

const numberOf = ({ name }: Case): number => Number.parseInt(name, 10);

/** All attacks in the order of their numbers. */
export const cases: Case[] = [...runCases, ...saveCases, ...canvasCases, ...connectionCases].sort((a, b) => numberOf(a) - numberOf(b));
