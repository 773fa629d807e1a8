"use client";

import { type ApiDocument, type ApiSchema, describeSchema, type ListedOperation, typeName } from "#components/api-reference/openapi.ts";
import { bodyFields, formBody, isJsonField, jsonBody, ownParameters, type Typed, WHOLE_BODY } from "#components/api-reference/request.ts";
import { Field } from "#components/ui/field.tsx";
import { Input, Textarea } from "#components/ui/input.tsx";
import { Select } from "#components/ui/select.tsx";

interface FieldsProps {
  operation: ListedOperation;
  document: ApiDocument;
  typed: Typed;
  onType: (name: string, text: string) => void;
}

interface SchemaFieldProps {
  name: string;
  schema: ApiSchema;
  description: string | undefined;
  isRequired: boolean;
  value: string;
  onValue: (text: string) => void;
}

/** Nothing chosen: Radix wants a value for it that is not empty. */
const NOTHING = "—";

/** One control, as the schema says: a choice, a text, a number, or JSON. */
function SchemaField({ name, schema, description, isRequired, value, onValue }: SchemaFieldProps) {
  const choices = schema.enum?.map(String) ?? (schema.type === "boolean" ? ["true", "false"] : undefined);
  const isLong = (schema.maxLength ?? 0) > 2000;
  const hint = describeSchema(schema, description);
  return (
    <Field label={<span className="font-mono">{name}</span>} isRequired={isRequired} isOptional={!isRequired} {...(hint && { hint })}>
      {choices ? (
        <Select
          value={value === "" && !isRequired ? NOTHING : value}
          onValueChange={(next) => onValue(next === NOTHING ? "" : next)}
          options={[
            ...(isRequired ? [] : [{ value: NOTHING, label: "left out" }]),
            ...choices.map((choice) => ({ value: choice, label: choice })),
          ]}
        />
      ) : isJsonField(schema) || isLong ? (
        <Textarea
          rows={2}
          spellCheck={false}
          className="font-mono text-12"
          placeholder={isJsonField(schema) ? `JSON: ${typeName(schema)}` : undefined}
          value={value}
          onChange={(event) => onValue(event.target.value)}
        />
      ) : (
        <Input
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          inputMode={schema.type === "integer" || schema.type === "number" ? "decimal" : "text"}
          type={/password|api_key|secret/.test(name) ? "password" : "text"}
          placeholder={schema.default === undefined ? undefined : String(schema.default)}
          value={value}
          onChange={(event) => onValue(event.target.value)}
        />
      )}
    </Field>
  );
}

/** A control for each parameter that the operation takes. */
export function ParameterFields({ operation, typed, onType }: Omit<FieldsProps, "document">) {
  const parameters = ownParameters(operation);
  if (parameters.length === 0) return null;
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {parameters.map(({ in: place, name, schema = {}, description = schema.description, required = false }) => (
        <SchemaField
          key={`${place}.${name}`}
          name={name}
          schema={schema}
          description={description}
          isRequired={required}
          value={typed[`${place}.${name}`] ?? ""}
          onValue={(text) => onType(`${place}.${name}`, text)}
        />
      ))}
    </div>
  );
}

/** A control for each field of the JSON body, or one for the whole when it has no named fields or is typed as JSON. */
export function BodyFields({ operation, document, typed, onType }: FieldsProps) {
  if (!jsonBody(operation)) return null;
  const whole = typed[WHOLE_BODY];
  if (whole !== undefined) {
    return (
      <Field label="Body as JSON">
        <Textarea
          rows={6}
          spellCheck={false}
          className="font-mono text-12"
          value={whole}
          onChange={(event) => onType(WHOLE_BODY, event.target.value)}
        />
      </Field>
    );
  }
  return (
    <div className="flex flex-col gap-3">
      {bodyFields(jsonBody(operation), document).map(({ name, schema, isRequired }) => (
        <SchemaField
          key={name}
          name={name}
          schema={schema}
          description={schema.description}
          isRequired={isRequired}
          value={typed[`body.${name}`] ?? ""}
          onValue={(text) => onType(`body.${name}`, text)}
        />
      ))}
    </div>
  );
}

interface FormFieldsProps {
  operation: ListedOperation;
  document: ApiDocument;
  form: FormData;
  onChange: (form: FormData) => void;
}

/** The fields of a form with files. */
export function FormFields({ operation, document, form, onChange }: FormFieldsProps) {
  const set = (name: string, value: string | File | undefined) => {
    const next = new FormData();
    for (const [other, kept] of form) if (other !== name) next.append(other, kept);
    if (value !== undefined && value !== "") next.append(name, value);
    onChange(next);
  };
  return (
    <div className="flex flex-col gap-3">
      {bodyFields(formBody(operation), document).map(({ name, schema, isRequired }) => {
        const isFile = schema.format === "binary" || schema.contentMediaType !== undefined;
        const text = form.get(name);
        if (!isFile) {
          return (
            <SchemaField
              key={name}
              name={name}
              schema={schema}
              description={schema.description}
              isRequired={isRequired}
              value={typeof text === "string" ? text : ""}
              onValue={(value) => set(name, value)}
            />
          );
        }
        return (
          <Field key={name} label={<span className="font-mono">{name}</span>} isRequired={isRequired} hint={schema.description}>
            <Input type="file" className="h-auto py-1.5" onChange={(event) => set(name, event.target.files?.[0])} />
          </Field>
        );
      })}
    </div>
  );
}
