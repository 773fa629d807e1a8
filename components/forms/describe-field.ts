import type { z } from "zod";

export interface FieldDescription {
  title?: string | undefined;
  description?: string | undefined;
  /** Whether a value must be given. */
  isRequired: boolean;
  isNullable: boolean;
  control: "text" | "textarea" | "number" | "boolean" | "choice" | "choices" | "other";
  min?: number | undefined;
  max?: number | undefined;
  isInteger: boolean;
  /** A text of fixed form (address, e-mail): where it may be left out, empty means left out. */
  isFormat: boolean;
  /** Choices of an enum, or of a list of them. */
  options: readonly string[];
}

const LONG_TEXT = 500;

type Wrapper = z.ZodOptional | z.ZodNullable | z.ZodDefault | z.ZodNonOptional;
type Core = z.ZodNumber | z.ZodBoolean | z.ZodEnum | z.ZodArray | z.ZodString | z.ZodStringFormat;

/** What a form needs to know about a field, read from its schema: the schema is the only place that says it. */
export function describeField(schema: z.ZodType): FieldDescription {
  // Told apart by their names and not by their classes: a page that was told what its fields are has no need of zod.
  let core = schema as Wrapper | Core; // cast: what is neither has another name, and is "other"
  let meta = schema.meta() ?? {};
  let isOptional = false;
  let isNullable = false;
  let isInsisted = false;
  while (core.type === "optional" || core.type === "nullable" || core.type === "default" || core.type === "nonoptional") {
    isInsisted ||= core.type === "nonoptional";
    isOptional ||= core.type === "optional" || core.type === "default";
    isNullable ||= core.type === "nullable";
    core = core.unwrap() as Wrapper | Core;
    meta = { ...core.meta(), ...meta };
  }
  const number = core.type === "number" ? core : undefined;
  const text = core.type === "string" ? core : undefined;
  const isFormat = typeof text?.format === "string" && text.format !== "regex";
  const item = core.type === "array" ? (core.element as Core) : undefined;
  const choices = core.type === "enum" ? core : item?.type === "enum" ? item : undefined;
  const maxLength = isFormat ? undefined : (text?.maxLength ?? undefined);
  return {
    title: meta.title,
    description: meta.description,
    isRequired: (isInsisted || !isOptional) && !isNullable,
    isNullable,
    control: number
      ? "number"
      : core.type === "boolean"
        ? "boolean"
        : choices
          ? choices === core
            ? "choice"
            : "choices"
          : text
            ? (maxLength ?? 0) > LONG_TEXT
              ? "textarea"
              : "text"
            : "other",
    min: number && finite(number.minValue),
    max: number ? finite(number.maxValue) : maxLength,
    isInteger: number?.isInt ?? false,
    isFormat,
    options: choices?.options.map(String) ?? [],
  };
}

const finite = (value: number | null) => (value !== null && Number.isFinite(value) ? value : undefined);
