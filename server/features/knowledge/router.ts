import { addDocument, deleteDocument, getDocument, listDocuments, reindexDocument } from "#server/features/knowledge/documents.ts";
import {
  AddRagDocumentInput,
  CreateRagInput,
  ListRagDocumentsInput,
  Rag,
  RagDocument,
  RagDocumentDetail,
  RagDocumentPage,
  RagDocumentRef,
  RagPage,
  RagRef,
  RagSearchResult,
  RagTest,
  ReindexRagDocumentInput,
  SearchRagInput,
  UpdateRagInput,
} from "#server/features/knowledge/schema.ts";
import { searchOneRag } from "#server/features/knowledge/search.ts";
import { createRag, deleteRag, getRag, listRags, updateRag } from "#server/features/knowledge/service.ts";
import { testRag } from "#server/features/knowledge/test-source.ts";
import { editorProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { ListInput, NoContent } from "#server/shared/primitives-schema.ts";

const tag = "RAG sources";

export const ragsRouter = router({
  list: viewerProcedure
    .meta(endpoint("GET", "/rags", { tag, summary: "List the project's RAG sources", description: "Secrets are masked." }))
    .input(ListInput)
    .output(RagPage)
    .query(({ ctx, input }) => listRags(ctx.principal, input)),
  get: viewerProcedure
    .meta(endpoint("GET", "/rags/{rag_id}", { tag, summary: "Read a RAG source", description: "Secrets are masked." }))
    .input(RagRef)
    .output(Rag)
    .query(({ ctx, input }) => getRag(ctx.principal, input)),
  create: editorProcedure
    .meta(
      endpoint("POST", "/rags", {
        tag,
        summary: "Add a RAG source",
        description: "`documents` keeps files and texts here; `pgvector`, `qdrant` and `http` search a store of yours.",
        status: 201,
      }),
    )
    .input(CreateRagInput)
    .output(Rag)
    .mutation(({ ctx, input }) => createRag(ctx.principal, input)),
  update: editorProcedure
    .meta(
      endpoint("PUT", "/rags/{rag_id}", {
        tag,
        summary: "Change a RAG source",
        description:
          "What is left out keeps its value. With another embedding model all documents are indexed anew. When the address leads to another server, its secrets must be given again.",
      }),
    )
    .input(UpdateRagInput)
    .output(Rag)
    .mutation(({ ctx, input }) => updateRag(ctx.principal, input)),
  delete: editorProcedure
    .meta(
      endpoint("DELETE", "/rags/{rag_id}", {
        tag,
        summary: "Delete a RAG source",
        description: "With its documents. 409 while an agent uses it.",
        status: 204,
      }),
    )
    .input(RagRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteRag(ctx.principal, input)),
  test: editorProcedure
    .meta(
      endpoint("POST", "/rags/{rag_id}/test", {
        tag,
        summary: "Test a RAG source",
        description: "Says what it found. A source that does not work is an answer with `ok: false`, not an error.",
        isIdempotent: false,
      }),
    )
    .input(RagRef)
    .output(RagTest)
    .mutation(({ ctx, input }) => testRag(ctx.principal, input)),
  search: viewerProcedure
    .meta(
      endpoint("GET", "/rags/{rag_id}/search", {
        tag,
        summary: "Search a RAG source",
        description: "What an agent that uses the source would find: pieces of text with document and place.",
      }),
    )
    .input(SearchRagInput)
    .output(RagSearchResult)
    .query(({ ctx, input }) => searchOneRag(ctx.principal, input)),
  documents: viewerProcedure
    .meta(endpoint("GET", "/rags/{rag_id}/documents", { tag, summary: "List the documents of a RAG source" }))
    .input(ListRagDocumentsInput)
    .output(RagDocumentPage)
    .query(({ ctx, input }) => listDocuments(ctx.principal, input)),
  // The REST operation has a route handler of its own, which takes files too (server/http/streams/rag-documents.ts).
  addDocument: editorProcedure
    .meta(endpoint("POST", "/rags/{rag_id}/documents", { tag, summary: "Add a document", status: 201 }))
    .input(AddRagDocumentInput)
    .output(RagDocument)
    .mutation(({ ctx, input }) => addDocument(ctx.principal, input)),
  document: viewerProcedure
    .meta(
      endpoint("GET", "/rags/{rag_id}/documents/{document_id}", {
        tag,
        summary: "Read a document",
        description: "With the beginning of the text extracted from the document.",
      }),
    )
    .input(RagDocumentRef)
    .meta({ isLarge: true })
    .output(RagDocumentDetail)
    .query(({ ctx, input }) => getDocument(ctx.principal, input)),
  deleteDocument: editorProcedure
    .meta(endpoint("DELETE", "/rags/{rag_id}/documents/{document_id}", { tag, summary: "Delete a document", status: 204 }))
    .input(RagDocumentRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteDocument(ctx.principal, input)),
  reindexDocument: editorProcedure
    .meta(
      endpoint("POST", "/rags/{rag_id}/documents/{document_id}/index", {
        tag,
        summary: "Index a document anew",
        description:
          "For one that failed, for one added by URL, which is then fetched again, and for a text file that was decoded by the wrong charset.",
        status: 202,
      }),
    )
    .input(ReindexRagDocumentInput)
    .output(RagDocument)
    .mutation(({ ctx, input }) => reindexDocument(ctx.principal, input)),
});
