curl -sS -X PUT $TREADLE_URL/agents/$AGENT_ID \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "tools": ["web_scraper"],
    "mcp_server_ids": ["'$MCP_ID'"],
    "rag_ids": ["'$RAG_ID'"]
  }'
