curl -sS -X POST $TREADLE_URL/mcp \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "name": "Shelf",
    "url": "'$MCP_URL'",
    "headers": {"Authorization": "Bearer '$MCP_TOKEN'"}
  }'
