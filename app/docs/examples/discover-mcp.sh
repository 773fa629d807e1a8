curl -sS -X POST $TREADLE_URL/mcp/discover \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"url": "'$MCP_URL'", "headers": {"Authorization": "Bearer '$MCP_TOKEN'"}}'
