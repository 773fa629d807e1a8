import { z } from "zod";

export interface FieldDescription {
  title: string | undefined;
  description: string | undefined;
  /** Whether a value must be given. */
  isRequired: boolean;
  isNullable: boolean;
  control: "text" | "textarea" | "number" | "boolean" | "choice" | "choices" | "other";
  min: number | undefined;
  max: number | undefined;
  isInteger: boolean;
  /** A text of fixed form (address, e-mail): where it may be left out, empty means left out. */
  isFormat: boolean;
  /** Choices of an enum, or of a list of them. */
  options: readonly string[];
}

const LONG_TEXT = 500;

/** What a form needs to know about a field, read from its schema: the schema is the only place that says it. */
export function describeField(schema: z.ZodType): FieldDescription {
  let core: z.ZodType = schema;
  let meta = schema.meta() ?? {};
  let isOptional = false;
  let isNullable = false;
  let isInsisted = false;
  while (
    core instanceof z.ZodOptional ||
    core instanceof z.ZodNullable ||
    core instanceof z.ZodDefault ||
    core instanceof z.ZodNonOptional
  ) {
    isInsisted ||= core instanceof z.ZodNonOptional;
    isOptional ||= core instanceof z.ZodOptional || core instanceof z.ZodDefault;
    isNullable ||= core instanceof z.ZodNullable;
    core = core.unwrap() as z.ZodType;
    meta = { ...core.meta(), ...meta };
  }
  const number = core instanceof z.ZodNumber ? core : undefined;
  const choices = core instanceof z.ZodArray && core.element instanceof z.ZodEnum ? core.element : undefined;
  const maxLength = core instanceof z.ZodString ? (core.maxLength ?? undefined) : undefined;
  return {
    title: meta.title,
    description: meta.description,
    isRequired: (isInsisted || !isOptional) && !isNullable,
    isNullable,
    control: number
      ? "number"
      : core instanceof z.ZodBoolean
        ? "boolean"
        : core instanceof z.ZodEnum
          ? "choice"
          : choices
            ? "choices"
            : core instanceof z.ZodString
              ? (maxLength ?? 0) > LONG_TEXT
                ? "textarea"
                : "text"
              : core instanceof z.ZodStringFormat
                ? "text"
                : "other",
    min: number && finite(number.minValue),
    max: number ? finite(number.maxValue) : maxLength,
    isInteger: number?.isInt ?? false,
    isFormat: core instanceof z.ZodStringFormat,
    options: (core instanceof z.ZodEnum ? core : choices)?.options.map(String) ?? [],
  };
}

const finite = (value: number | null) => (value !== null && Number.isFinite(value) ? value : undefined);
