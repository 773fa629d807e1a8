import { addRagDocument, restOfRagDocuments } from "#server/http/streams/rag-documents.ts";

export {
  addRagDocument as POST,
  restOfRagDocuments as DELETE,
  restOfRagDocuments as GET,
  restOfRagDocuments as HEAD,
  restOfRagDocuments as OPTIONS,
  restOfRagDocuments as PATCH,
  restOfRagDocuments as PUT,
};
