-- Charset of text documents, as decoded and as chosen by a user. Earlier releases leave both null.
ALTER TABLE "rag_documents" ADD COLUMN     "charset" TEXT,
ADD COLUMN     "chosen_charset" TEXT;
