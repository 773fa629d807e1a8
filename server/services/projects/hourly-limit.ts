import { settings } from "#server/settings.ts";

/**
 * How many executions the project `p` may start in an hour, as SQL; 0 is no limit. The project's own figure, else the
 * install's, and never more than the install allows.
 * @param preset the install's figure and `most` its cap, as expressions; 0 for none
 */
export const hourlyLimit = (preset: string, most: string): string =>
  `coalesce(least(nullif(coalesce(p.executions_per_hour, ${preset}), 0), nullif(${most}, 0)), 0)`;

/** The values of those two expressions. */
export const hourlyValues = (): [preset: number, most: number] => {
  const { EXECUTIONS_PER_HOUR, EXECUTIONS_PER_HOUR_MAX } = settings();
  return [EXECUTIONS_PER_HOUR, EXECUTIONS_PER_HOUR_MAX];
};
