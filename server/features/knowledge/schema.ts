import { z } from "zod";
import { Id, ignoredFields, Name, pageOf, pageQuery, searchQuery, Timestamp } from "#server/shared/primitives-schema.ts";

/** Stands in every answer where a secret is; sent back, it means: keep what is stored. */
export const SECRET_MARK = "••••";

const ragTypes = ["documents", "pgvector", "qdrant", "http"] as const;
export const RagType = z.enum(ragTypes).meta({
  id: "RagType",
  title: "Kind",
  description: "documents: files and text kept here; pgvector, qdrant: a vector store of yours; http: a search service of yours",
});
export type RagType = z.infer<typeof RagType>;

const embeddingKey = Id.meta({ title: "Embedding key", description: "LLM key of the project that makes the vectors" });
const embeddingModel = z.string().trim().min(1, "Name the embedding model.").max(200).meta({
  title: "Embedding model",
  description: "Model id of the embeddings, the same one that the stored vectors were made with",
  example: "text-embedding-3-small",
});
const embedding = { embedding_llm_key_id: embeddingKey, embedding_model: embeddingModel };

const HttpUrl = z.url({ protocol: /^https?$/ }).max(2000);
const fieldName = z.string().trim().min(1).max(120);

const DocumentsConfig = z
  .strictObject({
    embedding_llm_key_id: embeddingKey
      .nullable()
      .default(null)
      .meta({ title: "Embedding key", description: "LLM key of the project that makes vectors; null searches by words only" }),
    embedding_model: embeddingModel
      .nullable()
      .default(null)
      .meta({ title: "Embedding model", description: "Model id of the embeddings; given together with the key" }),
  })
  .meta({ id: "RagDocumentsConfig", title: "documents" });

const PgvectorConfig = z
  .strictObject({
    connection_string: z
      .string()
      .trim()
      .max(2000)
      .regex(/^postgres(ql)?:\/\/\S+$/, "A connection string looks like postgresql://user:password@host:5432/database.")
      .meta({
        title: "Connection string",
        description: `postgresql://user:password@host:5432/database?sslmode=require. Stored encrypted; answers show ${SECRET_MARK} for the password`,
      }),
    table: z
      .string()
      .trim()
      .min(1, "Name the table.")
      .max(200)
      .meta({ title: "Table", description: "Table or view, with its schema when that is not public" }),
    id_column: fieldName.default("id").meta({ title: "Id column", description: "Column that identifies a row" }),
    text_column: fieldName.default("content").meta({ title: "Text column", description: "Column with the text that agents read" }),
    embedding_column: fieldName.default("embedding").meta({ title: "Embedding column", description: "Column of the type vector" }),
    title_column: fieldName
      .nullable()
      .default(null)
      .meta({ title: "Title column", description: "Column with the title for citations, if any" }),
    uri_column: fieldName
      .nullable()
      .default(null)
      .meta({ title: "Address column", description: "Column with the address for citations, if any" }),
    distance: z
      .enum(["cosine", "l2", "inner_product"])
      .default("cosine")
      .meta({ title: "Distance", description: "The one that the table's index is made for" }),
    ...embedding,
  })
  .meta({ id: "RagPgvectorConfig", title: "pgvector" });

const QdrantConfig = z
  .strictObject({
    url: HttpUrl.meta({ title: "URL", description: "Address of the server's REST API", example: "https://qdrant.example.com:6333" }),
    api_key: z
      .string()
      .trim()
      .min(1)
      .max(4000)
      .nullable()
      .default(null)
      .meta({ title: "API key", description: "Stored encrypted, shown masked; null for a server without one" }),
    collection: z
      .string()
      .trim()
      .min(1, "Name the collection.")
      .max(255)
      .meta({ title: "Collection", description: "Name of the collection" }),
    vector_name: fieldName.nullable().default(null).meta({ title: "Vector name", description: "For collections with several vectors" }),
    text_field: fieldName.default("text").meta({ title: "Text field", description: "Payload field with the text that agents read" }),
    title_field: fieldName.nullable().default(null).meta({ title: "Title field", description: "Payload field with the title, if any" }),
    uri_field: fieldName.nullable().default(null).meta({ title: "Address field", description: "Payload field with the address, if any" }),
    ...embedding,
  })
  .meta({ id: "RagQdrantConfig", title: "qdrant" });

const HttpConfig = z
  .strictObject({
    url: HttpUrl.meta({ title: "URL", description: "Where searches are sent", example: "https://search.example.com/api/search" }),
    method: z.enum(["POST", "GET"]).default("POST").meta({ title: "Method", description: "POST sends JSON, GET query parameters" }),
    headers: z
      .record(
        z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,120}$/, "A header's name holds letters, digits and dashes only."),
        z
          .string()
          .max(4000)
          .regex(/^[\t\x20-\x7e\x80-\xff•]*$/, "A header's value is one line of plain letters."),
      )
      .refine((headers) => Object.keys(headers).length <= 20, "At most 20 headers.")
      .default({})
      .meta({
        title: "Headers",
        description: "Sent with each search, such as Authorization. Values are stored encrypted and shown masked",
      }),
    query_field: fieldName.default("query").meta({ title: "Query field", description: "Name under which the question is sent" }),
    limit_field: fieldName
      .nullable()
      .default("limit")
      .meta({ title: "Limit field", description: "Name under which the number of results is sent; null sends none" }),
    results_path: z.string().trim().max(200).default("results").meta({
      title: "Results at",
      description: "Dotted path to the list in the answer, such as data.items; empty when the answer is the list",
    }),
    text_field: fieldName.default("text").meta({ title: "Text field", description: "Dotted path to the text within a result" }),
    title_field: fieldName.nullable().default("title").meta({ title: "Title field", description: "Dotted path to the title, if any" }),
    uri_field: fieldName.nullable().default("url").meta({ title: "Address field", description: "Dotted path to the address, if any" }),
  })
  .meta({ id: "RagHttpConfig", title: "http" });

/** The settings of each kind of source. */
export const ragConfigs = { documents: DocumentsConfig, pgvector: PgvectorConfig, qdrant: QdrantConfig, http: HttpConfig } as const;
export type RagConfigs = { [Type in RagType]: z.infer<(typeof ragConfigs)[Type]> };
export type RagConfig = RagConfigs[RagType];

const shown = <Schema extends z.ZodType>(schema: Schema) => schema.meta({ ...schema.meta(), id: `${schema.meta()?.id}Shown` });
const config = z.union([shown(DocumentsConfig), shown(PgvectorConfig), shown(QdrantConfig), shown(HttpConfig)]).meta({
  description: `By type; secrets are masked with ${SECRET_MARK}`,
});

// Which of the shapes is meant is said by `type`, beside it: a union would answer a mistake with "no shape fits" instead of
// with the field. So the service checks it by the type (services/rags/check-config.ts), and the document names the shapes.
const anyConfig = z.record(z.string().max(120), z.unknown()).meta({
  title: "Settings",
  override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
    for (const name of Object.keys(jsonSchema)) if (name !== "description") delete jsonSchema[name];
    jsonSchema.anyOf = Object.values(ragConfigs).map((one) => {
      const { $schema: _, id: __, ...schema } = z.toJSONSchema(one, { io: "input" });
      return schema;
    });
  },
});

const counts = z.object({ total: z.number().int(), ready: z.number().int(), indexing: z.number().int(), failed: z.number().int() });

export const Rag = z
  .object({
    id: Id,
    name: z.string(),
    type: RagType,
    config,
    documents: counts.nullable().meta({ description: "How many documents there are, by status; null for sources that keep none here" }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Rag" });
export type Rag = z.infer<typeof Rag>;
export const RagPage = pageOf(Rag);
export const RagRef = z.strictObject({ rag_id: Id });

const writable = {
  name: Name.meta({ description: "Unique in the project; agents see it as the name of what they search" }),
  type: RagType,
  config: anyConfig,
};
export const CreateRagInput = z.strictObject({
  ...ignoredFields(Rag, writable),
  name: writable.name,
  type: RagType,
  config: anyConfig.default({}).meta({ description: "Settings by type; may be left out for `documents`" }),
});
export type CreateRagInput = z.infer<typeof CreateRagInput>;
export const UpdateRagInput = z.strictObject({
  ...ignoredFields(Rag, writable),
  rag_id: Id,
  name: writable.name.optional(),
  type: RagType.optional().meta({ description: "Cannot change; the present one is accepted" }),
  config: anyConfig
    .optional()
    .meta({ description: "Settings left out keep their value, and so does a secret that is left out or sent unchanged" }),
});
export type UpdateRagInput = z.infer<typeof UpdateRagInput>;

export const RagTest = z
  .object({
    ok: z.boolean(),
    message: z.string().meta({ description: "What was found, or what is wrong and what to do" }),
    details: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .meta({ description: "By type: documents, chunks, collection, dimensions, points, results" }),
  })
  .meta({ id: "RagTest" });
export type RagTest = z.infer<typeof RagTest>;

export const RagDocumentStatus = z
  .enum(["indexing", "ready", "failed"])
  .meta({ id: "RagDocumentStatus", description: "indexing: not whole yet; ready: found by searches; failed: see error" });

/** Charsets that a text file can be read in: all that the WHATWG Encoding Standard names. */
export const DocumentCharset = z
  .enum([
    "utf-8",
    "utf-16le",
    "utf-16be",
    "windows-1252",
    "windows-1250",
    "windows-1251",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "windows-874",
    "gb18030",
    "gbk",
    "big5",
    "shift_jis",
    "euc-jp",
    "iso-2022-jp",
    "euc-kr",
    "koi8-r",
    "koi8-u",
    "ibm866",
    "macintosh",
    "x-mac-cyrillic",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-8-i",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
  ])
  .meta({ id: "DocumentCharset", description: "Charset by its name in the WHATWG Encoding Standard; windows-1252 includes iso-8859-1" });
export type DocumentCharset = z.infer<typeof DocumentCharset>;

export const RagDocument = z
  .object({
    id: Id,
    rag_id: Id,
    title: z.string(),
    uri: z.string().nullable().meta({ description: "Where it was fetched, for documents added by address" }),
    media_type: z.string(),
    bytes: z.number().int(),
    status: RagDocumentStatus,
    error: z.string().nullable().meta({ description: "Why it failed, and what to do" }),
    progress: z.number().min(0).max(1).meta({ description: "Share of the pieces that are indexed" }),
    chunk_count: z.number().int().meta({ description: "Pieces that the text was cut into" }),
    charset: z
      .string()
      .nullable()
      .meta({ description: "Charset that the text was decoded by; null for PDF and DOCX, and before indexing" }),
    chosen_charset: z
      .string()
      .nullable()
      .meta({ description: "Charset that a user chose at `POST …/index`; null when it is declared by the document or detected" }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "RagDocument" });
export type RagDocument = z.infer<typeof RagDocument>;
export const RagDocumentPage = pageOf(RagDocument);

/** How much of a document's text a GET shows, in characters. */
export const SHOWN_TEXT = 100_000;
export const RagDocumentDetail = RagDocument.extend({
  text: z.string().meta({ description: `Text extracted from the document, its first ${SHOWN_TEXT.toLocaleString("en")} characters` }),
}).meta({ id: "RagDocumentDetail" });
export type RagDocumentDetail = z.infer<typeof RagDocumentDetail>;

export const ListRagDocumentsInput = z.strictObject({ rag_id: Id, ...pageQuery, ...searchQuery, status: RagDocumentStatus.optional() });
export type ListRagDocumentsInput = z.infer<typeof ListRagDocumentsInput>;
export const RagDocumentRef = z.strictObject({ rag_id: Id, document_id: Id });
export type RagDocumentRef = z.infer<typeof RagDocumentRef>;

export const ReindexRagDocumentInput = RagDocumentRef.extend({
  charset: DocumentCharset.nullable()
    .optional()
    .meta({ description: "Charset to decode the text by from now on; null detects it again. Left out: unchanged" }),
});
export type ReindexRagDocumentInput = z.infer<typeof ReindexRagDocumentInput>;

const title = z.string().trim().min(1, "Give it a title.").max(300).meta({ title: "Title", description: "Shown in citations" });
export const AddRagDocumentInput = z.strictObject({
  rag_id: Id,
  title: title.optional().meta({ title: "Title", description: "Shown in citations; needed with text, else taken from the document" }),
  text: z
    .string()
    .max(4_000_000)
    .optional()
    .meta({ title: "Text", description: "Plain text or Markdown, whose headings become places in citations" }),
  url: HttpUrl.optional().meta({ title: "URL", description: "A page, PDF, Word or text file on the web; fetched by the service" }),
});
export type AddRagDocumentInput = z.infer<typeof AddRagDocumentInput>;

/** What stands in the body beside the path, for the API document. */
export const AddRagDocumentBody = AddRagDocumentInput.omit({ rag_id: true }).meta({ id: "AddRagDocumentBody" });

export const SearchRagInput = z.strictObject({
  rag_id: Id,
  query: z.string().trim().min(1, "Write what to look for.").max(2000).meta({ title: "Query", description: "A question or words" }),
  limit: z.number().int().min(1).max(50).default(5).meta({ description: "Results at most, 1 to 50" }),
});
export type SearchRagInput = z.infer<typeof SearchRagInput>;

export const RagHit = z
  .object({
    rag_id: Id,
    document_id: z.string().nullable().meta({ description: "Document here, or the row or point in a store of yours" }),
    title: z.string(),
    uri: z.string().nullable(),
    place: z.string().meta({ description: "Heading path or page, for the citation; empty when the text has neither" }),
    text: z.string(),
    read_at: Timestamp.nullable().meta({
      description: "When the document was indexed last; null of a store of yours, which is searched as it is",
    }),
    score: z.number().meta({ description: "Reciprocal rank fusion (k = 60): higher is better, comparable within one answer only" }),
  })
  .meta({ id: "RagHit" });
export type RagHit = z.infer<typeof RagHit>;
export const RagSearchResult = z.object({
  items: z.array(RagHit),
  problems: z
    .array(z.string())
    .optional()
    .meta({ description: "Only there when a part of the search failed, so that more might have been found: what, and why" }),
});
export type RagSearchResult = z.infer<typeof RagSearchResult>;
