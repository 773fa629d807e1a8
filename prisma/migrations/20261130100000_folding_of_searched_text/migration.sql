-- Version of the form in which words are indexed. Earlier releases leave it out, so that what they write is indexed again.
ALTER TABLE "rag_chunks" ADD COLUMN     "folding" SMALLINT NOT NULL DEFAULT 0;

CREATE INDEX "rag_chunks_outdated_idx" ON "rag_chunks"("rag_source_id") WHERE (folding < 1);

-- Texts of workflows have the version among their words: earlier releases replace all of them.
CREATE INDEX "workflow_texts_outdated_idx" ON "workflow_texts"("workflow_id") WHERE (NOT search @@ 'folding_1'::tsquery);
