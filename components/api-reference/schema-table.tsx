import { type ApiDocument, type ApiSchema, describeSchema, resolve, typeName } from "#components/api-reference/openapi.ts";

/** Names of shapes become links to their table. */
function TypeText({ schema, document }: { schema: ApiSchema; document: ApiDocument }) {
  const words = typeName(schema).split(/(\b[A-Z]\w+\b)/);
  return words.map((word, index) =>
    document.components.schemas?.[word] ? (
      <a key={`${index.toString()}${word}`} href={`#shape-${word}`} className="text-thread-text underline underline-offset-2">
        {word}
      </a>
    ) : (
      word
    ),
  );
}

export interface SchemaTableProps {
  schema: ApiSchema;
  document: ApiDocument;
  label: string;
}

/** The fields of an object; anything else as its type. */
export function SchemaTable({ schema, document, label }: SchemaTableProps) {
  const target = resolve(schema, document.components.schemas);
  const fields = Object.entries(target.properties ?? {}).filter(([, field]) => field.readOnly !== true);
  if (fields.length === 0) {
    return (
      <p className="font-mono text-12 text-ink-soft">
        <TypeText schema={schema.$ref === undefined ? target : schema} document={document} />
        {target.description && <span className="ml-2 font-sans">{target.description}</span>}
      </p>
    );
  }
  return (
    <div className="overflow-x-auto">
      <table aria-label={label} className="w-full text-12">
        <tbody>
          {fields.map(([name, field]) => (
            <tr key={name} className="border-t align-top first:border-t-0">
              <th scope="row" className="w-44 py-1.5 pr-4 text-left font-semibold font-mono">
                {name}
                {target.required?.includes(name) && (
                  <span className="text-failed" title="required">
                    *<span className="sr-only"> required</span>
                  </span>
                )}
              </th>
              <td className="py-1.5 pr-4 font-mono text-ink-soft">
                <TypeText schema={field} document={document} />
              </td>
              <td className="w-1/2 py-1.5 text-ink-soft">
                {describeSchema(field, field.description ?? resolve(field, document.components.schemas).description)}
                {field.default !== undefined && <span className="text-ink-faint"> Default {JSON.stringify(field.default)}.</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
