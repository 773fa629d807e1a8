const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);

/** True when a write was refused because another row already has the value of a unique field. */
export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === "P2002";

/** True when a write was refused because a row that it names is gone, or is still named by another row. */
export const isForeignKeyViolation = (error: unknown): boolean => codeOf(error) === "P2003";
