import type pg from "pg";
import sql, { empty, raw, type Sql } from "sql-template-tag";

/**
 * `sql` builds a statement or a part of one: `${value}` binds a parameter, and a nested `sql` becomes part of the text.
 * `raw` makes a part of a text, which must be a constant of the code.
 */
export { empty, raw, type Sql, sql };

/** Returns a part of a statement that is there under a condition only. A named statement has the condition in its name. */
export const when = (condition: boolean, part: Sql): Sql => (condition ? part : empty);

/**
 * Names a statement, so that a connection parses it once.
 * @param name one for each text: what adds a part to the text adds to the name. The driver rejects a second text under a name
 */
export const named = (name: string, { text, values }: Sql): pg.QueryConfig => ({ name, text, values });
