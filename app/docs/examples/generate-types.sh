npm install openapi-fetch && npm install --save-dev openapi-typescript typescript
npx openapi-typescript $TREADLE_URL/openapi.json --output treadle.d.ts
