/** The parts of a pdfjs annotation that concern a form. */
export interface FormField {
  subtype?: string;
  fieldType?: string | null;
  fieldName?: string;
  /** Label for people (TU). */
  alternativeText?: string;
  fieldValue?: unknown;
  hidden?: boolean;
  noView?: boolean;
  password?: boolean;
  pushButton?: boolean;
  options?: { exportValue: string; displayValue: string }[];
}

/** Name of a field without the indexes and unnamed subforms that form designers write: `form1[0].#subform[0].City[0]`. */
const readableName = (name: string): string =>
  name
    .replace(/\[\d+\]/g, "")
    .split(".")
    .filter((part) => !part.startsWith("#"))
    .join(".");

function formatValue({ fieldType, fieldValue, options = [] }: FormField): string {
  const values = (Array.isArray(fieldValue) ? fieldValue : [fieldValue]).filter((value) => typeof value === "string");
  if (fieldType === "Btn") return values.filter((value) => value !== "Off").join(", ");
  const displayed = new Map(options.map(({ exportValue, displayValue }) => [exportValue, displayValue]));
  return values
    .map((value) => displayed.get(value) ?? value)
    .join(", ")
    .trim();
}

/**
 * Returns the filled-in fields of a page, one line each: `Label: value`.
 * @param seen names of the fields on earlier pages; those of this page are added, since a field may stand in several places
 */
export function formLines(annotations: readonly FormField[], seen: Set<string>): string[] {
  return annotations.flatMap((field) => {
    const { subtype, fieldName = "", alternativeText, hidden, noView, password, pushButton } = field;
    if (subtype !== "Widget" || hidden || noView || password || pushButton || seen.has(fieldName)) return [];

    const value = formatValue(field);
    if (!value) return [];

    if (fieldName) seen.add(fieldName);
    const label = alternativeText?.trim() || readableName(fieldName);
    return [label ? `${label}: ${value}` : value];
  });
}
