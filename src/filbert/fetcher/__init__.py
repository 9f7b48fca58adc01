"""The fetcher: feeder, queues, workers, robots cache, progress; one asyncio loop per part."""
